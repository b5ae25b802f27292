// SPDX-License-Identifier: BSL-1.0
/// The counts of a budget. One atomic word, the room, tells how many bytes may still be taken, so a
/// request is compared with the limit and counted in a single step: budgets_never_overshoot checks
/// that no schedule exceeds a limit.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

enum class BudgetSite : std::uint8_t {
  load_room,
  take_room,
  return_room,
  add_use,
  end_use,
  load_use,
  load_peak,
  raise_peak,
  load_limit,
  store_limit,
  change_room,
};

inline constexpr sync::SiteTable<BudgetSite, 11> budget_sites{{{
    {"budget.load_room", sync::Operation::load, std::memory_order::relaxed},
    {"budget.take_room", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"budget.return_room", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"budget.add_use", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"budget.end_use", sync::Operation::fetch_sub, std::memory_order::relaxed},
    {"budget.load_use", sync::Operation::load, std::memory_order::relaxed},
    {"budget.load_peak", sync::Operation::load, std::memory_order::relaxed},
    {"budget.raise_peak", sync::Operation::compare_exchange, std::memory_order::relaxed},
    {"budget.load_limit", sync::Operation::load, std::memory_order::relaxed},
    {"budget.store_limit", sync::Operation::store, std::memory_order::relaxed},
    {"budget.change_room", sync::Operation::fetch_add, std::memory_order::relaxed},
}}};

/// All operations are relaxed and pair with nothing: the numbers publish no data. A block that is
/// released and allocated again is published by its allocator.
///
/// Invariants, if the limit does not change:
///
/// B1  room + (bytes of takes in progress) + used = limit. `room` is lowered before `used` is
///     raised, and raised after `used` is lowered, so used <= limit at any time, unless
///     take_beyond_limit() was called.
/// B2  Bytes that a budget counts are also counted in its parent.
/// B3  A change of the limit changes the room by the difference in one step. Afterwards no take
///     succeeds that the new limit forbids. The room is negative if more is used than the limit.
///
/// Thread-safe. give_back() is wait-free, take() lock-free. Nothing throws.
template <sync::Sync Sync>
class basic_budget_count {
 public:
  /// The largest limit, which no amount of memory reaches.
  static constexpr std::size_t max_limit = static_cast<std::size_t>(-1) >> 1;

  explicit basic_budget_count(std::size_t limit, basic_budget_count* parent = nullptr) noexcept
      : room_(as_room(clamped(limit))),
        used_(0),
        peak_(0),
        limit_(clamped(limit)),
        parent_(parent) {}
  basic_budget_count(const basic_budget_count&) = delete;
  basic_budget_count& operator=(const basic_budget_count&) = delete;

  /// Counts `nbytes` in this budget and its ancestors. If one of them lacks the room, counts
  /// nothing and returns that budget; otherwise returns null.
  const basic_budget_count* take(std::size_t nbytes) noexcept {
    for (basic_budget_count* budget = this; budget != nullptr; budget = budget->parent_) {
      if (!budget->take_room(nbytes)) {
        for (basic_budget_count* taken = this; taken != budget; taken = taken->parent_) {
          taken->return_room(nbytes);
        }
        return budget;
      }
    }
    for (basic_budget_count* budget = this; budget != nullptr; budget = budget->parent_) {
      budget->use(nbytes);
    }
    return nullptr;
  }

  /// Counts `nbytes` even if they exceed a limit.
  void take_beyond_limit(std::size_t nbytes) noexcept {
    for (basic_budget_count* budget = this; budget != nullptr; budget = budget->parent_) {
      // If this were a load and a store, limits_can_be_exceeded would fail.
      budget->room_.fetch_add(-as_room(nbytes), sites.at(At::change_room, relaxed));
      budget->use(nbytes);
    }
  }

  /// Ends the count of `nbytes`, which were taken from this budget.
  void give_back(std::size_t nbytes) noexcept {
    for (basic_budget_count* budget = this; budget != nullptr; budget = budget->parent_) {
      // If this were a load and a store, returns_add_up would fail; if the next step came first,
      // budgets_never_overshoot.
      budget->used_.fetch_sub(nbytes, sites.at(At::end_use, relaxed));
      budget->return_room(nbytes);
    }
  }

  /// The bytes that `nbytes` exceed the room by; 0 if they fit now.
  std::size_t lack(std::size_t nbytes) const noexcept {
    const std::int64_t room = room_.load(sites.at(At::load_room, relaxed));
    // Unsigned, because the difference from a negative room may exceed the signed range.
    return room >= as_room(nbytes) ? 0 : nbytes - static_cast<std::size_t>(room);
  }

  std::size_t used() const noexcept { return used_.load(sites.at(At::load_use, relaxed)); }
  /// The largest result of used() so far.
  std::size_t peak() const noexcept { return peak_.load(sites.at(At::load_peak, relaxed)); }
  std::size_t limit() const noexcept { return limit_.load(sites.at(At::load_limit, relaxed)); }

  /// Changes the limit. Calls must not overlap: two changes in progress could add up to more room
  /// than either limit allows.
  void set_limit(std::size_t limit) noexcept {
    const std::int64_t difference = as_room(clamped(limit)) - as_room(this->limit());
    // Without this store, limits_race_takes would fail.
    limit_.store(clamped(limit), sites.at(At::store_limit, relaxed));
    // If this were a load and a store, limits_race_takes would fail.
    room_.fetch_add(difference, sites.at(At::change_room, relaxed));
  }

 private:
  using At = BudgetSite;
  static constexpr const auto& sites = budget_sites;
  static constexpr auto relaxed = std::memory_order::relaxed;

  static constexpr std::size_t clamped(std::size_t limit) noexcept {
    return limit < max_limit ? limit : max_limit;
  }
  static constexpr std::int64_t as_room(std::size_t nbytes) noexcept {
    return static_cast<std::int64_t>(nbytes);
  }

  bool take_room(std::size_t nbytes) noexcept {
    std::int64_t room = room_.load(sites.at(At::load_room, relaxed));
    do {
      if (room < as_room(nbytes)) {
        return false;
      }
      // If this were a load and a store, budgets_never_overshoot would fail.
    } while (!room_.compare_exchange_weak(room, room - as_room(nbytes),
                                          sites.at(At::take_room, relaxed)));
    return true;
  }

  void return_room(std::size_t nbytes) noexcept {
    // If this were a load and a store, returns_add_up would fail.
    room_.fetch_add(as_room(nbytes), sites.at(At::return_room, relaxed));
  }

  /// Counts bytes for which the room has been lowered.
  void use(std::size_t nbytes) noexcept {
    // If this were a load and a store, budgets_never_overshoot would fail.
    const std::size_t now = used_.fetch_add(nbytes, sites.at(At::add_use, relaxed)) + nbytes;
    std::size_t peak = peak_.load(sites.at(At::load_peak, relaxed));
    // If this were a load and a store, peaks_are_exact would fail.
    while (peak < now &&
           !peak_.compare_exchange_weak(peak, now, sites.at(At::raise_peak, relaxed))) {
    }
  }

  typename Sync::template Atomic<std::int64_t> room_;
  typename Sync::template Atomic<std::size_t> used_;
  typename Sync::template Atomic<std::size_t> peak_;
  typename Sync::template Atomic<std::size_t> limit_;
  basic_budget_count* const parent_;
};

}  // namespace byre::inline BYRE_ABI::detail
