// SPDX-License-Identifier: BSL-1.0
/// How many pins of one storage there are, by whose pointers it may be written. A lazy clone copies while there is
/// one.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::detail {

enum class PinCountSite : std::uint8_t { add, add_another, drop, any };

inline constexpr sync::SiteTable<PinCountSite, 4> pin_count_sites{{{
    {"pin_count.add", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"pin_count.add_another", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"pin_count.drop", sync::Operation::fetch_sub, std::memory_order::release},
    {"pin_count.any", sync::Operation::load, std::memory_order::acquire},
}}};

/// While data is shared there is no pin, and while there is one the data is not shared: a pin is added by a write,
/// which leaves the data shared with nobody, or beside one that is there, in one step. A pin that was added first and
/// taken back would look to another thread as if it were one to add to.
///
/// Thread-safe; wait-free, and add_another lock-free; nothing throws.
template <sync::Sync Sync>
class basic_pin_count {
 public:
  basic_pin_count() noexcept : pins_(0) {}
  basic_pin_count(const basic_pin_count&) = delete;
  basic_pin_count& operator=(const basic_pin_count&) = delete;

  /// By a write, or by who knows that others may write anyway.
  void add() noexcept {
    // Relaxed, and pairs with nothing: a thread that finds the pin shares nothing. As two steps, pins_race_unpins
    // fails; left out, clones_race_unpins.
    expect_room(pins_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed)));
  }

  /// Adds a pin if there is one. If not, the data may be shared, after all that was written by pointers.
  [[nodiscard]] bool add_another() noexcept {
    for (std::uint32_t before; (before = load()) != 0;) {
      expect_room(before);
      // Relaxed, and pairs with nothing: the data is not shared. Two steps instead of one fail
      // pins_to_read_race_each_other.
      if (pins_.compare_exchange_weak(before, before + 1,
                                      sites.at(At::add_another, std::memory_order::relaxed))) {
        return true;
      }
    }
    return false;
  }

  void drop() noexcept {
    // Release pairs with any: writes by the pointer come before clones that share the data, or
    // clones_race_unpins fails.
    const std::uint32_t before = pins_.fetch_sub(1, sites.at(At::drop, std::memory_order::release));
    BYRE_ASSERT(before != 0, "a pin of a storage was released twice");
  }

  bool any() const noexcept { return load() != 0; }

 private:
  using At = PinCountSite;
  static constexpr const auto& sites = pin_count_sites;

  std::uint32_t load() const noexcept {
    // Acquire pairs with drop: without a pin, what was written by one is seen, or clones_race_unpins fails.
    return pins_.load(sites.at(At::any, std::memory_order::acquire));
  }

  static void expect_room(std::uint32_t before) noexcept {
    BYRE_ASSERT(before < sync::max_count, "there are more than 2^30 pins of a storage");
  }

  typename Sync::template Atomic<std::uint32_t> pins_;
};

}  // namespace byre::inline v0::detail
