// SPDX-License-Identifier: BSL-1.0
/// WithLayout<Base, layout>: the Sync `Base`, over which the slots of AtomicBuffers have another
/// layout than the shipped one, so that their rare steps are frequent.
#pragma once

#include <byre/cow/detail/atomic_slot.hpp>
#include <byre/storage/detail/atomic_cell.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::stress::histories {

/// Every second load refills the stock, and data with more than 12 owners is held under the lock of
/// the cell: for example, data that another slot contains, too.
inline constexpr cow::AtomicSlotLayout tiny_layout{
    .address_bits = 48, .stock = 8, .refill_at = 2, .max_owners = 12};
/// No header fits, so all data is held.
inline constexpr cow::AtomicSlotLayout narrow_layout{
    .address_bits = 4, .stock = 8, .refill_at = 2, .max_owners = sync::max_count / 2};

/// Steps of the calling thread over any WithLayout.
struct RareSteps {
  std::uint64_t refills = 0;
  std::uint64_t held = 0;  ///< stores under the lock of a cell

  RareSteps& operator+=(const RareSteps& other) noexcept {
    refills += other.refills;
    held += other.held;
    return *this;
  }
};
inline constinit thread_local RareSteps rare_steps;

template <sync::Sync Base, cow::AtomicSlotLayout Layout>
struct WithLayout : Base {
  template <class Value>
  class Atomic : public Base::template Atomic<Value> {
    using Whole = typename Base::template Atomic<Value>;

   public:
    using Whole::Whole;

    void store(Value value, sync::Step step) noexcept {
      if (step.site == &at(byre::detail::AtomicCellSite::set_held) && value != 0) {
        ++rare_steps.held;
      }
      Whole::store(value, step);
    }
    bool compare_exchange_weak(Value& expected, Value desired, sync::Step step) noexcept {
      const bool has_changed = Whole::compare_exchange_weak(expected, desired, step);
      if (has_changed && step.site == &at(cow::AtomicSlotSite::refill)) {
        ++rare_steps.refills;
      }
      return has_changed;
    }

   private:
    static const sync::Site& at(byre::detail::AtomicCellSite site) noexcept {
      return byre::detail::atomic_cell_sites.rows[static_cast<std::size_t>(site)];
    }
    static const sync::Site& at(cow::AtomicSlotSite site) noexcept {
      return cow::atomic_slot_sites.rows[static_cast<std::size_t>(site)];
    }
  };

  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }
};

}  // namespace byre::stress::histories

namespace byre::inline BYRE_ABI::cow {

template <sync::Sync Base, AtomicSlotLayout Layout>
class basic_atomic_slot<stress::histories::WithLayout<Base, Layout>, atomic_slot_layout>
    : public basic_atomic_slot<stress::histories::WithLayout<Base, Layout>, Layout> {};

}  // namespace byre::inline BYRE_ABI::cow
