// SPDX-License-Identifier: BSL-1.0
/// Whether any copy sink is installed, which a copy asks before it takes the lock of their list.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::stats::detail {

enum class SinkFlagSite : std::uint8_t { any, set };

inline constexpr sync::SiteTable<SinkFlagSite, 2> sink_flag_sites{{{
    {"sink_flag.any", sync::Operation::load, std::memory_order::relaxed,
     "nothing: the list itself is read under its lock", "relaxed is the weakest order"},
    {"sink_flag.set", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a copy concurrent with an installation may be missed by it",
     "relaxed is the weakest order; left out, copies_race_an_installation: no sink is called"},
}}};

/// Approximate while it changes; exact for who was told of the change. Wait-free.
template <sync::Sync Sync>
class basic_sink_flag {
 public:
  constexpr basic_sink_flag() noexcept : installed_(0) {}

  bool any() const noexcept {
    // Relaxed, and pairs with nothing: the list itself is read under its lock.
    return installed_.load(sink_flag_sites.at(At::any, std::memory_order::relaxed)) != 0;
  }
  void set(bool any_installed) noexcept {
    // Relaxed, and pairs with nothing.
    installed_.store(any_installed ? 1 : 0,
                     sink_flag_sites.at(At::set, std::memory_order::relaxed));
  }

 private:
  using At = SinkFlagSite;

  typename Sync::template Atomic<std::uint32_t> installed_;
};

using SinkFlag = basic_sink_flag<sync::Boost>;

}  // namespace byre::inline v0::stats::detail
