// SPDX-License-Identifier: BSL-1.0
/// A switch that any thread may turn on or off, and that knows whether anybody did.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <optional>

namespace byre::inline v0::shadow {

enum class SwitchSite : std::uint8_t { get, set };

inline constexpr sync::SiteTable<SwitchSite, 2> switch_sites{{{
    {"switch.get", sync::Operation::load, std::memory_order::relaxed,
     "nothing: on or off is all there is to know", "relaxed is the weakest order"},
    {"switch.set", sync::Operation::store, std::memory_order::relaxed,
     "nothing: who asks at the same time may come before it",
     "relaxed is the weakest order; left out, switches_are_set_beside_looks: nothing is turned on"},
}}};

/// Thread-safe; wait-free.
template <sync::Sync Sync>
class basic_switch {
 public:
  constexpr basic_switch() noexcept : state_(untouched) {}

  std::optional<bool> get() const noexcept {
    // Relaxed, and pairs with nothing: on or off is all there is to know.
    const std::uint32_t state = state_.load(sites.at(SwitchSite::get, std::memory_order::relaxed));
    return state == untouched ? std::nullopt : std::optional(state == on);
  }
  void set(bool is_on) noexcept {
    // Relaxed, and pairs with nothing.
    state_.store(is_on ? on : off, sites.at(SwitchSite::set, std::memory_order::relaxed));
  }

 private:
  static constexpr const auto& sites = switch_sites;
  static constexpr std::uint32_t untouched = 0;
  static constexpr std::uint32_t off = 1;
  static constexpr std::uint32_t on = 2;

  typename Sync::template Atomic<std::uint32_t> state_;
};

}  // namespace byre::inline v0::shadow
