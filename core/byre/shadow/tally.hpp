// SPDX-License-Identifier: BSL-1.0
/// A tally: how often something happened, for people.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::shadow {

enum class TallySite : std::uint8_t { add, count, clear };

inline constexpr sync::SiteTable<TallySite, 3> tally_sites{{{
    {"tally.add", sync::Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the count is all there is to know",
     "relaxed is the weakest order; not atomic, tallies_are_added_at_once: one is lost"},
    {"tally.count", sync::Operation::load, std::memory_order::relaxed,
     "nothing: the count is all there is to know", "relaxed is the weakest order"},
    {"tally.clear", sync::Operation::store, std::memory_order::relaxed,
     "nothing: who adds at the same time may come before it",
     "relaxed is the weakest order; left out, tallies_begin_anew: what was counted before stays"},
}}};

/// Thread-safe; wait-free. Approximate while others add, exact for who comes after them.
template <sync::Sync Sync>
class basic_tally {
 public:
  constexpr basic_tally() noexcept : count_(0) {}

  void add() noexcept {
    // Relaxed, and pairs with nothing: the count is all there is to know.
    count_.fetch_add(1, tally_sites.at(TallySite::add, std::memory_order::relaxed));
  }
  std::uint64_t count() const noexcept {
    // Relaxed, and pairs with nothing.
    return count_.load(tally_sites.at(TallySite::count, std::memory_order::relaxed));
  }
  /// Begins anew.
  void clear() noexcept {
    // Relaxed, and pairs with nothing: who adds at the same time may come before it.
    count_.store(0, tally_sites.at(TallySite::clear, std::memory_order::relaxed));
  }

 private:
  typename Sync::template Atomic<std::uint64_t> count_;
};

using Tally = basic_tally<sync::Boost>;

}  // namespace byre::inline v0::shadow
