// SPDX-License-Identifier: BSL-1.0
/// How many reasons there are in the process to look out for reshapes: modes in force that watch, and
/// storages that a watched reshape met. While there are none, who hands out a pointer asks no further.
#pragma once

#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::shadow {

enum class WatchCountSite : std::uint8_t { add, drop, look };

inline constexpr sync::SiteTable<WatchCountSite, 3> watch_count_sites{{{
    {"watch_count.add", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: who is handed what the reason is for comes after it, and so does its look",
     "relaxed is the weakest order; not atomic, watched_storages_are_looked_at: one is lost"},
    {"watch_count.drop", sync::Operation::fetch_sub, std::memory_order::relaxed,
     "nothing: who drops the reason comes after all that looked because of it",
     "relaxed is the weakest order; not atomic, watched_storages_are_looked_at: one is lost"},
    {"watch_count.look", sync::Operation::load, std::memory_order::relaxed,
     "nothing: see add and drop", "relaxed is the weakest order"},
}}};

/// Thread-safe; wait-free. As a reason is added before what it is for is handed to anybody, and dropped
/// when nobody has that any more, whoever has it sees that there is one.
template <sync::Sync Sync>
class basic_watch_count {
 public:
  constexpr explicit basic_watch_count(std::uint32_t reasons = 0) noexcept : count_(reasons) {}

  void add() noexcept {
    // Relaxed, and pairs with nothing: who is handed what the reason is for comes after it.
    count_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed));
  }
  void drop() noexcept {
    // Relaxed, and pairs with nothing: it comes after all that looked because of the reason.
    count_.fetch_sub(1, sites.at(At::drop, std::memory_order::relaxed));
  }
  bool is_none() const noexcept {
    // Relaxed, and pairs with nothing: see add and drop.
    return count_.load(sites.at(At::look, std::memory_order::relaxed)) == 0;
  }

 private:
  using At = WatchCountSite;
  static constexpr const auto& sites = watch_count_sites;

  typename Sync::template Atomic<std::uint32_t> count_;
};

}  // namespace byre::inline v0::shadow
