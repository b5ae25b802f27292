// SPDX-License-Identifier: BSL-1.0
/// Storages that the threads of a parallel loop write, with the shipped table of locks or with a
/// wrong table. One thread makes the data unique, and the writes of all other threads have to
/// happen after that. If the lock does not order these writes, they race with the copy.
#pragma once

#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/basic_lock_table.hpp>

#include "../search.hpp"
#include "parking_lots.hpp"

namespace byre::verification {

/// The Sync of the checker, with `Table` as the table of locks.
template <class Table>
struct LocksIn : Checked {
  /// The first call constructs the table. Make this call in the set-up, so that the construction
  /// happens before all threads start.
  static Table& table() noexcept { return no_destructor<Table>(); }
};

/// Two buckets in place of the 64 that ship.
template <class Condition>
using LocksOf = sync::detail::basic_lock_table<Checked, CheckedMutex, Condition, 1>;
using Locks = LocksOf<CheckedCondition>;

static_assert(sync::Sync<LocksIn<Locks>>);

}  // namespace byre::verification

template <class Table>
struct byre::sync::detail::LockTable<byre::verification::LocksIn<Table>> {
  using Holder = byre::sync::detail::LockHolder<byre::verification::Checked>;
  static bool lock_unless(Holder& holder, ConditionRef is_done) {
    return byre::verification::LocksIn<Table>::table().lock_unless(holder, is_done);
  }
  static void unlock(Holder& holder) { byre::verification::LocksIn<Table>::table().unlock(holder); }
};

namespace byre::verification {

/// A storage with one cell and one handle for each thread of a loop, and a lazy clone of it. Cells
/// hold 7 at first.
template <unsigned Writers, class Table = Locks>
class LoopOverStorage {
 protected:
  using Sync = LocksIn<Table>;
  using Storage = basic_storage<Sync>;

  LoopOverStorage() {
    Sync::table();
    handles_[0] = Storage::allocate(cells(Writers), memory_);
    for (unsigned index = 0; index < Writers; ++index) {
      cell(handles_[0].mutable_data(), index).set(7);
    }
    for (unsigned index = 1; index < Writers; ++index) {
      handles_[index] = handles_[0];
    }
    clone_ = handles_[0].lazy_clone();
  }

  /// Writes the part of thread `index`.
  void write(unsigned index) {
    std::byte* const data = handles_[index].mutable_data_in_parallel();
    expect(cell(data, index).get() == 7, "no other thread has written this part");
    cell(data, index).set(index);
    expect(handles_[index].data() == data, "all threads write one copy of the data");
  }

  void expect_written() const {
    for (unsigned index = 0; index < Writers; ++index) {
      expect(cell(handles_[0].data(), index).get() == index, "every part is written");
    }
    expect(handles_[0].is_unique(), "written data is unique");
  }
  void expect_clone_unwritten() const {
    for (unsigned index = 0; index < Writers; ++index) {
      expect(cell(clone_.data(), index).get() == 7, "a clone never reads a write of the loop");
    }
  }

  Tracked memory_;
  Storage handles_[Writers];
  Storage clone_;
};

/// All threads of a loop request write access at once.
template <unsigned Writers, class Table = Locks>
class WritersInParallel : public LoopOverStorage<Writers, Table> {
 public:
  static constexpr unsigned threads = Writers;

  void thread(unsigned index) { this->write(index); }

  void after() {
    this->expect_written();
    this->expect_clone_unwritten();
    expect(this->memory_.copies() == 1, "exactly one thread copies");
  }
};

/// One thread locks two addresses of one bucket. Each of two other threads locks a different one of
/// these addresses.
template <class Table>
class NeighboursAreLocked {
 public:
  static constexpr unsigned threads = 3;

  NeighboursAreLocked() { LocksIn<Table>::table(); }

  void thread(unsigned index) {
    using Lock = sync::detail::AddressLock<LocksIn<Table>>;
    if (index == 0) {
      const Lock first(addresses_[0]);
      const Lock second(addresses_[1]);
      done_[0].set(done_[0].get() + 1);
      done_[1].set(done_[1].get() + 1);
    } else {
      const Lock lock(addresses_[index - 1]);
      done_[index - 1].set(done_[index - 1].get() + 1);
    }
  }

  void after() {
    expect(done_[0].get() == 2 && done_[1].get() == 2, "each thread has had its locks once");
  }

 private:
  const void* addresses_[2] = {address_in<Lot>(0), address_in<Lot>(0, 1)};
  Cell done_[2] = {Cell(0), Cell(0)};
};

}  // namespace byre::verification
