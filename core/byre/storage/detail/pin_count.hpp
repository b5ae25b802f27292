// SPDX-License-Identifier: BSL-1.0
/// The number of pins of one storage (see pin.hpp) through which the storage may be written, or
/// whose bytes may have other writers. While the number is not 0, a lazy clone copies.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

enum class PinCountSite : std::uint8_t { add, add_another, drop, any };

inline constexpr sync::SiteTable<PinCountSite, 4> pin_count_sites{{{
    {"pin_count.add", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"pin_count.add_another", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"pin_count.drop", sync::Operation::fetch_sub, std::memory_order::release},
    {"pin_count.any", sync::Operation::load, std::memory_order::acquire},
}}};

/// Invariant: data is not shared while it is pinned. The first pin is added by a write, which has
/// made its storage the only owner. A further pin is added by add_another(), which tests that a pin
/// exists and adds one in a single step. If add_another() added a pin first and then removed it
/// again, another thread could mistake that pin for an existing one.
///
/// Thread-safe. add, drop and any are wait-free, add_another is lock-free. Nothing throws.
template <sync::Sync Sync>
class basic_pin_count {
 public:
  basic_pin_count() noexcept : pins_(0) {}
  basic_pin_count(const basic_pin_count&) = delete;
  basic_pin_count& operator=(const basic_pin_count&) = delete;

  /// Adds a pin. Called by a write, or by a reader of memory that may have other writers anyway.
  void add() noexcept {
    // Relaxed, pairs with nothing: a thread that finds the pin does not share the data. If this
    // step were split in two, pins_race_unpins would fail; without this step, clones_race_unpins
    // fails.
    expect_room(pins_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed)));
  }

  /// Adds a pin if one exists, and returns true. If it returns false, the data may be shared, and
  /// all writes through released pins happen before the call.
  [[nodiscard]] bool add_another() noexcept {
    for (std::uint32_t before; (before = load()) != 0;) {
      expect_room(before);
      // Relaxed, pairs with nothing: the data is not shared. If this step were split in two,
      // pins_to_read_race_each_other would fail.
      if (pins_.compare_exchange_weak(before, before + 1,
                                      sites.at(At::add_another, std::memory_order::relaxed))) {
        return true;
      }
    }
    return false;
  }

  void drop() noexcept {
    // Release pairs with any: writes through the pointer happen before clones that share the data,
    // or clones_race_unpins fails.
    const std::uint32_t before = pins_.fetch_sub(1, sites.at(At::drop, std::memory_order::release));
    BYRE_ASSERT(before != 0, "a pin of a storage was released twice");
  }

  bool any() const noexcept { return load() != 0; }

 private:
  using At = PinCountSite;
  static constexpr const auto& sites = pin_count_sites;

  std::uint32_t load() const noexcept {
    // Acquire pairs with drop: if there is no pin, writes through released pins are visible, or
    // clones_race_unpins fails.
    return pins_.load(sites.at(At::any, std::memory_order::acquire));
  }

  static void expect_room(std::uint32_t before) noexcept {
    BYRE_ASSERT(before < sync::max_count, "a storage has more than 2^30 pins");
  }

  typename Sync::template Atomic<std::uint32_t> pins_;
};

}  // namespace byre::inline BYRE_ABI::detail
