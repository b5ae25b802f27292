// SPDX-License-Identifier: BSL-1.0
/// Writes to shared data at the limit of a budget. verification/scenarios/budgets.cpp covers all
/// interleavings of writers and reclaimers.
#include <byre/memory/budget.hpp>
#include <byre/storage/array.hpp>
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support/at_once.hpp"
#include "support/caught_warnings.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/queued_device.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

/// A buffer and a clone that share three bytes, and a budget without room for a copy.
class BudgetedWrites : public WithStats {
 protected:
  /// A reclaimer that drops the clone.
  Reclaimer dropping_the_clone() {
    return budget.add_reclaimer([this](const Pressure& pressure) -> std::size_t {
      ++calls;
      nbytes = pressure.nbytes;
      if (pressure.data != clone.data() || clone.nbytes() == 0) {
        return 0;
      }
      clone = Buffer();
      return pressure.nbytes;
    });
  }

  FailingAllocator memory;
  Budget budget{5};
  BudgetedAllocator allocator{memory, budget};
  Buffer buffer = of_text<Buffer>("cow", allocator);
  Buffer clone = buffer;
  int calls = 0;
  std::size_t nbytes = 0;
};

TEST_F(BudgetedWrites, a_copy_counts_until_it_is_released) {
  budget.set_limit(6);
  EXPECT_EQ(budget.used(), 3U);
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  EXPECT_EQ(budget.used(), 6U);
  clone = Buffer();
  EXPECT_EQ(budget.used(), 3U);
}

TEST_F(BudgetedWrites, a_write_without_room_changes_nothing) {
  const std::byte* const before = buffer.data();
  const Counted counted;
  EXPECT_TRUE(says(complaint_of<BudgetExceeded>([&] { buffer.mutable_data(); }),
                   "cannot allocate 3 bytes", "3 of 5 bytes are in use"));
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.use_count(), 2U);
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_EQ(budget.used(), 3U);
  EXPECT_EQ(counted.since().copies, 0);
  clone = Buffer();
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
}

TEST_F(BudgetedWrites, a_write_steals_data_whose_other_owner_a_reclaimer_drops) {
  const Reclaimer reclaimer = dropping_the_clone();
  const std::byte* const before = buffer.data();
  const Counted counted;
  EXPECT_EQ(buffer.materialize(), Materialized::stole);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(nbytes, 1U);  // two of the five bytes were left
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(budget.used(), 3U);
  EXPECT_EQ(budget.peak(), 3U);
  EXPECT_EQ(counted.since().steals, 1);
  EXPECT_EQ(counted.since().copies, 0);
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
}

TEST_F(BudgetedWrites, a_write_copies_into_room_that_a_reclaimer_makes) {
  Buffer cached = of_text<Buffer>("ox", allocator);
  const void* const data = std::as_const(buffer).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, data);
    EXPECT_EQ(pressure.nbytes, 3U);
    cached = Buffer();
    budget.set_limit(6);
    return std::size_t{2};
  });
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  EXPECT_EQ(text_of(clone), "cow");
  EXPECT_EQ(budget.used(), 6U);
}

TEST_F(BudgetedWrites, a_failing_reclaimer_leaves_the_write_undone) {
  const CaughtWarnings warnings;
  const Reclaimer broken = budget.add_reclaimer(
      [](const Pressure&) -> std::size_t { throw std::runtime_error("the disk is full"); });
  EXPECT_THROW(buffer.mutable_data(), BudgetExceeded);
  EXPECT_EQ(buffer.use_count(), 2U);
  const Reclaimer works = dropping_the_clone();
  buffer.mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(text_of(buffer), "now");
  EXPECT_EQ(warnings.texts().size(), 2U);
}

TEST_F(BudgetedWrites, a_reclaimer_may_write_and_allocate) {
  Buffer other = of_text<Buffer>("a", allocator);
  const Buffer shared = other;
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    other.mutable_data()[0] = std::byte{'b'};                      // copies: one byte is left
    EXPECT_THROW(Buffer::allocate(1, allocator), BudgetExceeded);  // calls no reclaimer
    EXPECT_EQ(Buffer::allocate(0, allocator).nbytes(), 0U);
    clone = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(buffer.materialize(), Materialized::stole);
  EXPECT_EQ(text_of(other) + text_of(shared), "ba");
}

TEST_F(BudgetedWrites, two_writers_without_room_end_with_one_copy_less) {
  need_threads();
  // The room suffices for neither copy. One writer drops its data at the other's request.
  for (int round = 0; round < 200; ++round) {
    buffer = Buffer();
    clone = Buffer();
    buffer = of_text<Buffer>("cow", allocator);
    clone = buffer;
    Buffer third = buffer;
    std::mutex mutex;
    const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) -> std::size_t {
      const std::lock_guard<std::mutex> lock(mutex);
      const bool has_given = pressure.data == third.data();
      third = has_given ? Buffer() : third;
      return has_given ? pressure.nbytes : 0;
    });
    int failures[2] = {};
    at_once(2, [&](std::size_t thread) {
      try {
        (thread == 0 ? buffer : clone).mutable_data()[0] = std::byte{'n'};
      } catch (const BudgetExceeded&) {
        ++failures[thread];
      }
    });
    EXPECT_EQ(failures[0] + failures[1], 2) << "two owners are left, without room for a copy";
    EXPECT_EQ(text_of(buffer), "cow");
    EXPECT_EQ(buffer.use_count(), 2U);
    EXPECT_EQ(third.nbytes(), 0U);
  }
}

TEST_F(BudgetedWrites, a_resize_and_a_shrink_respect_the_budget) {
  clone = Buffer();
  EXPECT_THROW(buffer.resize(6), BudgetExceeded);
  EXPECT_EQ(buffer.nbytes(), 3U);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, nullptr);
    budget.set_limit(9);
    return pressure.nbytes;
  });
  buffer.resize(6);
  EXPECT_EQ(budget.used(), buffer.capacity());
  buffer.resize(1);
  EXPECT_EQ(text_of(buffer), "c");
}

TEST_F(BudgetedWrites, a_resize_gives_up_spare_capacity_before_it_asks) {
  clone = Buffer();
  budget.set_limit(7);
  const Reclaimer reclaimer = dropping_the_clone();
  buffer.resize(4);  // with spare capacity, 4; 3 * 3 / 2 = 4
  EXPECT_EQ(calls, 0);
}

TEST_F(BudgetedWrites, an_array_whose_other_owner_is_dropped_is_resized_in_place) {
  buffer = Buffer();
  clone = Buffer();
  Array<std::byte> bytes({std::byte{7}, std::byte{7}, std::byte{7}, std::byte{7}}, allocator);
  std::optional<Array<std::byte>> other = bytes;
  const std::byte* const place = std::as_const(bytes).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, place);
    other.reset();
    return pressure.nbytes;
  });
  bytes.resize(2);
  EXPECT_EQ(bytes.data(), place);
  EXPECT_FALSE(other);
  EXPECT_EQ(budget.used(), 4U);
}

TEST_F(BudgetedWrites, shared_data_is_resized_to_its_capacity_in_place) {
  std::optional<Array<std::byte>> other;
  Array<std::byte> bytes({std::byte{7}, std::byte{7}}, allocator);
  other = bytes;
  const void* const place = std::as_const(bytes).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, place);
    other.reset();
    return pressure.nbytes;
  });
  budget.set_limit(budget.used());
  bytes.resize(2);
  EXPECT_EQ(std::as_const(bytes).data(), place);
}

TEST_F(BudgetedWrites, a_growth_of_shared_data_asks_for_a_block) {
  Array<std::byte> bytes({std::byte{7}, std::byte{7}}, allocator);
  const Array<std::byte> other = bytes;
  buffer = Buffer();
  std::size_t asked = 0;
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, nullptr);  // a drop of `other` would not help
    asked = pressure.nbytes;
    clone = Buffer();
    return pressure.nbytes;
  });
  budget.set_limit(budget.used());
  bytes.resize(3);
  EXPECT_EQ(asked, 3U);
  EXPECT_EQ(bytes.size(), 3U);
}

TEST_F(BudgetedWrites, a_parents_reclaimers_are_spared_if_the_childs_drop_the_data) {
  buffer = Buffer();
  clone = Buffer();
  Budget child(100, &budget);
  BudgetedAllocator of_child(memory, child);
  Buffer data = of_text<Buffer>("cow", of_child);
  Buffer other = data;
  const Reclaimer own = child.add_reclaimer([&](const Pressure& pressure) {
    other = Buffer();
    return pressure.nbytes;
  });
  const Reclaimer of_parent = dropping_the_clone();
  EXPECT_EQ(data.materialize(), Materialized::stole);
  EXPECT_EQ(calls, 0);
}

TEST_F(BudgetedWrites, a_copy_of_borrowed_memory_asks) {
  buffer = Buffer();
  clone = Buffer();
  std::byte lent[4] = {};
  Buffer cached = of_text<Buffer>("ox", allocator);
  const Buffer loan = Buffer::borrow(lent, sizeof lent, allocator);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, nullptr);
    cached = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(loan.lazy_clone().nbytes(), 4U);
  EXPECT_EQ(cached.nbytes(), 0U);
}

TEST_F(BudgetedWrites, a_write_to_read_only_memory_asks) {
  const char text[] = "sow";
  Buffer read_only = Buffer::adopt_read_only(
      text, 3, [](void*) {}, allocator);
  EXPECT_THROW(read_only.mutable_data(), BudgetExceeded);
  EXPECT_EQ(text_of(read_only), "sow");
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    buffer = Buffer();
    clone = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(read_only.materialize(), Materialized::copied);
}

TEST_F(BudgetedWrites, an_atomic_load_asks_without_a_lock) {
  buffer = Buffer();
  clone = Buffer();
  std::byte lent[4] = {};
  AtomicBuffer place;
  place.store(Buffer::borrow(lent, sizeof lent, allocator));
  Buffer cached = of_text<Buffer>("ox", allocator);
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    cached = Buffer();
    EXPECT_EQ(place.load().nbytes(), 4U);  // would wait for itself
    return pressure.nbytes;
  });
  EXPECT_EQ(place.load().nbytes(), 4U);
}

TEST_F(BudgetedWrites, a_parallel_loop_asks_without_a_lock) {
  Storage storage(std::move(buffer));
  const Storage other = of_text<Storage>("x");
  const void* const data = std::as_const(storage).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) -> std::size_t {
    EXPECT_EQ(pressure.data, data);
    Storage(other).mutable_data_in_parallel();
    EXPECT_EQ(clone.use_count(), 2U);  // the claim has been abandoned
    clone = Buffer();
    return pressure.nbytes;
  });
  EXPECT_EQ(storage.materialize_in_parallel(), Materialized::already_unique);
  EXPECT_TRUE(storage.is_unique());
  EXPECT_EQ(budget.used(), 3U);
}

TEST_F(BudgetedWrites, threads_of_a_parallel_loop_wait_for_the_one_that_asks) {
  need_threads();
  Storage storage(std::move(buffer));
  std::mutex mutex;
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    const std::lock_guard<std::mutex> lock(mutex);
    clone = Buffer();
    return pressure.nbytes;
  });
  at_once(3, [&](std::size_t thread) {
    Storage(storage).mutable_data_in_parallel()[thread] = std::byte{'x'};
  });
  EXPECT_EQ(text_of(storage), "xxx");
  EXPECT_EQ(budget.peak(), 3U);
}

TEST_F(BudgetedWrites, arrays_ask) {
  buffer = Buffer();
  clone = Buffer();
  Array<std::byte> bytes({std::byte{7}, std::byte{7}, std::byte{7}}, allocator);
  std::optional<Array<std::byte>> other = bytes;
  const void* const data = std::as_const(bytes).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, data);
    other.reset();
    return pressure.nbytes;
  });
  bytes.mutable_data()[0] = std::byte{8};
  EXPECT_EQ(budget.peak(), 3U);
}

TEST_F(BudgetedWrites, a_tile_is_stolen_if_a_reclaimer_drops_its_snapshot) {
  buffer = Buffer();
  clone = Buffer();
  budget.set_limit(4 * 1024);
  TiledBuffer tiles(4 * 1024, allocator, 1024);
  std::memset(tiles.mutable_tile(1).data(), 1, 1024);
  std::optional<TiledBuffer> snapshot = tiles;
  const std::byte* const before = tiles.tile(1).data();
  const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
    EXPECT_EQ(pressure.data, before);
    EXPECT_EQ(pressure.nbytes, 1024U);
    snapshot.reset();
    return pressure.nbytes;
  });
  EXPECT_EQ(tiles.mutable_tile(1).data(), before);
  EXPECT_EQ(budget.peak(), budget.limit());
}

TEST(BudgetedDevices, a_submitted_copy_is_refused_and_asks_without_its_turn) {
  for (const auto copies_end : {CopiesEnd::in_order, CopiesEnd::later}) {
    QueuedDevice device(copies_end);
    Budget budget(100);
    BudgetedAllocator allocator(device, budget);
    Buffer buffer = Buffer::allocate(64, allocator);
    Buffer clone = buffer;
    EXPECT_THROW(buffer.mutable_data(), BudgetExceeded);
    EXPECT_EQ(buffer.use_count(), 2U);
    const Reclaimer reclaimer = budget.add_reclaimer([&](const Pressure& pressure) {
      budget.set_limit(128);
      EXPECT_EQ(clone.materialize(), Materialized::copied);  // claims the data in its own turn
      return pressure.nbytes;
    });
    device.run();
    if (copies_end == CopiesEnd::later) {
      device.start();  // the last owner waits for the clone's copy
    }
    EXPECT_EQ(buffer.materialize(), Materialized::stole);
    device.stop();
    EXPECT_EQ(budget.used(), 128U);
    clone = Buffer();
    buffer = Buffer();
    device.run();
  }
}

}  // namespace
}  // namespace byre::test
