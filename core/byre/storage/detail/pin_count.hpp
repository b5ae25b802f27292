// SPDX-License-Identifier: BSL-1.0
/// How many pins of one storage there are, by whose pointers it may be written. A lazy clone copies while there is
/// one.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::detail {

enum class PinCountSite : std::uint8_t { add, drop, any };

inline constexpr sync::SiteTable<PinCountSite, 3> pin_count_sites{{{
    {"pin_count.add", sync::Operation::fetch_add, std::memory_order::acquire,
     "drop (release): who pins to read and finds no pin shares the data, after the last write by a "
     "pointer",
     "pins_to_read_race_unpins: what was written by a pointer races the reader; left out, "
     "clones_race_unpins: a lazy clone shares what is written by a pointer"},
    {"pin_count.drop", sync::Operation::fetch_sub, std::memory_order::release,
     "any and add (acquire): what was written by a pointer comes before a lazy clone that shares "
     "it",
     "clones_race_unpins: what was written by a pointer races a clone's read"},
    {"pin_count.any", sync::Operation::load, std::memory_order::acquire,
     "drop (release): who finds no pin shares the data, after the last write by a pointer",
     "clones_race_unpins: what was written by a pointer races a clone's read"},
}}};

/// Thread-safe; wait-free; nothing throws.
template <sync::Sync Sync>
class basic_pin_count {
 public:
  basic_pin_count() noexcept : pins_(0) {}
  basic_pin_count(const basic_pin_count&) = delete;
  basic_pin_count& operator=(const basic_pin_count&) = delete;

  /// By a write, or by who knows that others may write anyway; or else see is_kept_by_adding.
  void add() noexcept { static_cast<void>(is_kept_by_adding()); }

  /// Adds a pin. False if there was none: the data may be shared by now, and the caller has to drop its own.
  [[nodiscard]] bool is_kept_by_adding() noexcept {
    // Acquire pairs with drop: who finds none shares the data after the last write by a pointer, or
    // pins_to_read_race_unpins fails.
    const std::uint32_t before = pins_.fetch_add(1, sites.at(At::add, std::memory_order::acquire));
    BYRE_ASSERT(before < sync::max_count, "there are more than 2^30 pins of a storage");
    return before != 0;
  }

  void drop() noexcept {
    // Release pairs with any and add: writes by the pointer come before clones that share the data, or
    // clones_race_unpins fails.
    const std::uint32_t before = pins_.fetch_sub(1, sites.at(At::drop, std::memory_order::release));
    BYRE_ASSERT(before != 0, "a pin of a storage was released twice");
  }

  bool any() const noexcept {
    // Acquire pairs with drop: without a pin, what was written by one is seen, or clones_race_unpins fails.
    return pins_.load(sites.at(At::any, std::memory_order::acquire)) != 0;
  }

 private:
  using At = PinCountSite;
  static constexpr const auto& sites = pin_count_sites;

  typename Sync::template Atomic<std::uint32_t> pins_;
};

}  // namespace byre::inline v0::detail
