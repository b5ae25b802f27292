// SPDX-License-Identifier: BSL-1.0
/// The cell of an AtomicBuffer with a slot that has a small stock, for scenarios. Each buffer has
/// one cell of data, which holds the buffer's number.
#pragma once

#include <byre/storage/detail/atomic_cell.hpp>

#include <optional>
#include <utility>

#include "buffers.hpp"
#include "parallel_writers.hpp"

namespace byre::verification {

using AtomicSync = LocksIn<Locks>;
using AtomicsBuffer = basic_buffer<AtomicSync>;
using CellHeader = cow::basic_header<AtomicSync>;

/// `taken` has two bits, the address has 62. The second load refills the stock.
inline constexpr cow::AtomicSlotLayout two_bits{62, 4, 2, sync::max_count};
/// Every load refills the stock.
inline constexpr cow::AtomicSlotLayout always_refilled{62, 4, 1, sync::max_count};
/// No load refills the stock.
inline constexpr cow::AtomicSlotLayout never_refilled{60, 8, 7, sync::max_count};
/// Only data with one owner fits.
inline constexpr cow::AtomicSlotLayout unshared_fits{60, 8, 7, 2};
/// Nothing fits, as if addresses had too many bits.
inline constexpr cow::AtomicSlotLayout nothing_fits{4, 8, 7, sync::max_count};

template <cow::AtomicSlotLayout Layout>
using SlotOf = cow::basic_atomic_slot<AtomicSync, Layout>;

/// Tracks the word of the slot and the data behind it by the steps of all threads.
template <cow::AtomicSlotLayout Layout>
class SlotSteps {
 public:
  /// Fails the execution if a step puts a wrong address into the slot, or into `held_`. Without
  /// this check a wrong address would crash the checker.
  void on_step(const sync::Site& site, std::uint64_t value) {
    if (site.name == "atomic_cell.held" || site.name == "atomic_cell.set_held") {
      expect(value % alignof(CellHeader) == 0, "the held address is that of a header");
      expect(!is_loading() || value != 0, "a locked slot has held data");
      return;
    }
    if (!site.name.starts_with("atomic_slot.")) {
      return;
    }
    const std::uint64_t address = value & (one_taken - 1);
    expect(address % alignof(CellHeader) == 0 || (may_lock_ && address == 1),
           "the address in a slot is that of a header");
    if (site.name == "atomic_slot.refill") {
      // A failed compare-exchange passes the value that it read.
      if (value != word_ - Layout.refill_at * one_taken) {
        return;
      }
      if (current_thread() < most_threads) {
        refilled_[current_thread()] = true;
      }
    }
    if (site.name != "atomic_slot.look" && site.name != "atomic_slot.peek") {
      word_ = value;
    }
  }

  static constexpr unsigned most_threads = 4;

 protected:
  /// The word of the slot.
  std::uint64_t word() const noexcept { return word_; }
  /// Whether a load by the thread has refilled the stock.
  bool has_refilled(unsigned thread) const noexcept { return refilled_[thread]; }
  /// Whether the current thread is loading.
  bool is_loading() const noexcept {
    return current_thread() < most_threads && loading_[current_thread()];
  }
  static constexpr std::uint64_t one_taken = std::uint64_t{1} << Layout.address_bits;

  /// Call in the set-up if held data is stored.
  void allow_locks() noexcept { may_lock_ = true; }
  void set_loading(bool loads) noexcept {
    if (current_thread() < most_threads) {
      loading_[current_thread()] = loads;
    }
  }

 private:
  std::uint64_t word_ = 0;
  bool may_lock_ = false;
  bool refilled_[most_threads] = {};
  bool loading_[most_threads] = {};
};

/// A cell that contains a buffer with the number 7 at first.
template <class Slot = SlotOf<never_refilled>, cow::AtomicSlotLayout Layout = never_refilled>
class OneCell : public SlotSteps<Layout> {
 public:
  using Buffer = AtomicsBuffer;

  OneCell() {
    AtomicSync::table();
    store(make(7));
  }

 protected:
  Buffer make(unsigned number) { return buffer_of<AtomicSync>(number, memory_); }

  Buffer load() {
    this->set_loading(true);
    Buffer loaded = cell_->template load<byre::detail::Reported::no>(CallSite{});
    this->set_loading(false);
    return loaded;
  }
  Buffer exchange(Buffer desired) { return cell_->exchange(std::move(desired), CallSite{}); }
  void store(Buffer desired) { exchange(std::move(desired)); }
  bool compare_exchange(const Buffer& expected, Buffer& desired) {
    return cell_->compare_exchange(expected, desired, CallSite{});
  }
  unsigned load_number() { return read(load()); }

  Tracked memory_;
  std::optional<byre::detail::basic_atomic_cell<AtomicSync, Slot>> cell_{std::in_place};
};

template <cow::AtomicSlotLayout Layout>
using CellWith = OneCell<SlotOf<Layout>, Layout>;

}  // namespace byre::verification
