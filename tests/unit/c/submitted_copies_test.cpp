// SPDX-License-Identifier: BSL-1.0
// Copies that an allocator of the C interface submits to a device, and that end later.
#include <byre/byre_c.hpp>
#include <byre/observe/counters.hpp>

#include <atomic>
#include <thread>

#include "counting_allocator.hpp"

namespace byre::test {
namespace {

/// The memory of a device for which copies are submitted.
struct Submitting {
  Submitting() {
    auto table = counting.functions();
    table.device_kind = 3;
    table.device_index = 2;
    table.copies_end = BYRE_COPIES_END_LATER;
    table.submit_copy = &submit_copy;
    EXPECT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
    EXPECT_TRUE(ok(byre_buffer_allocate(4, allocator, source)));
  }
  Counting counting;
  CAllocator allocator;
  CBuffer source;
};

TEST(CAllocators, submitted_copy_keeps_its_source_until_it_ends) {
  Submitting device;
  EXPECT_EQ(byre_allocator_device_kind(device.allocator), 3);
  EXPECT_EQ(byre_allocator_device_index(device.allocator), 2);
  {
    CBuffer clone;
    ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
    EXPECT_EQ(device.counting.submitted, 1);
  }
  EXPECT_EQ(byre_buffer_is_unique(device.source), 0) << "a copy is pending";
  byre_materialized how = -1;
  ASSERT_TRUE(ok(byre_buffer_materialize(device.source, BYRE_WAIT_NEVER, &how)));
  EXPECT_EQ(how, BYRE_COPIED) << "the last owner must not wait";
  EXPECT_EQ(device.counting.submitted, 2);
  const int before = device.counting.deallocated;
  byre_pending_copy_end(&device.counting.pending[0]);
  byre_pending_copy_end(&device.counting.pending[0]);
  byre_pending_copy_end(nullptr);
  byre_pending_copy_take(nullptr, &device.counting.pending[0]);
  byre_pending_copy_take(&device.counting.pending[1], nullptr);
  EXPECT_EQ(device.counting.deallocated, before) << "the second copy is pending";
  byre_pending_copy_end(&device.counting.pending[1]);
  EXPECT_EQ(device.counting.deallocated, before + 1);
}

/// Writes by `write` to `source` while a copy of it is pending. The copy ends once a thread waits
/// for it.
template <class Source, class Write>
void expect_wait(Submitting& device, Source source, Write write) {
  const int submitted = device.counting.submitted;
  {
    Source clone = source.lazy_clone().value();
    write(clone);
  }
  ASSERT_EQ(device.counting.submitted, submitted + 1);
  const auto waits = stats::snapshot().waits;
  std::atomic<bool> is_written{false};
  std::thread device_thread([&] {
    while (stats::snapshot().waits == waits && !is_written) {
      std::this_thread::yield();
    }
    byre_pending_copy_end(&device.counting.pending[submitted]);
  });
  write(source);
  is_written = true;
  device_thread.join();
  EXPECT_EQ(device.counting.submitted, submitted + 1) << "the write copied, in place of waiting";
  byre_pending_copy_end(&device.counting.pending[submitted + 1]);
}

TEST(WrappedWrites, wait_for_a_pending_copy_by_default) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "this build does not count waits";
  }
  const auto expect_waits_of_buffers = [](auto write) {
    Submitting device;
    c::Buffer buffer;
    byre_buffer_swap(device.source, buffer.get());
    expect_wait(device, std::move(buffer), write);
  };
  expect_waits_of_buffers([](c::Buffer& buffer) { EXPECT_TRUE(buffer.mutable_data()); });
  expect_waits_of_buffers([](c::Buffer& buffer) { EXPECT_TRUE(buffer.materialize()); });
  expect_waits_of_buffers([](c::Buffer& buffer) { EXPECT_TRUE(buffer.mutable_range(0, 1)); });
  const auto expect_waits_of_storages = [](auto write) {
    Submitting device;
    c::Buffer buffer;
    byre_buffer_swap(device.source, buffer.get());
    expect_wait(device, c::Storage::from(std::move(buffer)).value(), write);
  };
  using Storage = c::Storage;
  expect_waits_of_storages([](Storage& storage) { EXPECT_TRUE(storage.mutable_data()); });
  expect_waits_of_storages([](Storage& storage) { EXPECT_TRUE(storage.materialize()); });
  expect_waits_of_storages([](Storage& storage) { EXPECT_TRUE(storage.mutable_range(0, 1)); });
  expect_waits_of_storages([](Storage& storage) { EXPECT_TRUE(storage.pin()); });
  expect_waits_of_storages(
      [](Storage& storage) { EXPECT_TRUE(storage.mutable_data_in_parallel()); });
  expect_waits_of_storages(
      [](Storage& storage) { EXPECT_TRUE(storage.mutable_range_in_parallel(0, 1)); });
  expect_waits_of_storages(
      [](Storage& storage) { EXPECT_TRUE(storage.materialize_in_parallel()); });
  const auto expect_waits_of_tiles = [](auto write) {
    Submitting device;
    expect_wait(device, c::Tiles::allocate(3, 4, device.allocator).value(), write);
  };
  expect_waits_of_tiles([](c::Tiles& tiles) { EXPECT_TRUE(tiles.mutable_tile(0)); });
  expect_waits_of_tiles([](c::Tiles& tiles) { EXPECT_TRUE(tiles.write(0, "m", 1)); });
  expect_waits_of_tiles([](c::Tiles& tiles) { EXPECT_TRUE(tiles.append("m", 1)); });
}

TEST(CAllocators, submitted_copy_that_is_not_taken_is_complete) {
  Submitting device;
  device.counting.takes_pending = false;
  CBuffer clone;
  ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
  ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  EXPECT_EQ(byre_buffer_is_unique(device.source), 1);
  ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
  device.counting.allocate_status = BYRE_USER_STATUS + 1;
  EXPECT_TRUE(fails(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr),
                    BYRE_USER_STATUS + 1, "submit_copy of counting allocator"));
  EXPECT_EQ(byre_buffer_shares_data_with(device.source, clone), 1);
}

TEST(CAllocators, blocks_of_copies_that_do_not_fit_are_refused) {
  const auto copied_into = [](auto change, bool is_submitted) {
    Submitting device;
    CAllocator allocating;
    if (!is_submitted) {
      auto table = device.counting.functions();
      table.allocate_copy = &allocate_copy;
      EXPECT_TRUE(ok(byre_allocator_create(&table, allocating.result())));
      EXPECT_TRUE(ok(byre_buffer_allocate(4, allocating, device.source)));
    }
    CBuffer clone;
    EXPECT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    device.counting.takes_pending = false;
    change(device.counting);
    const byre_status status = byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr);
    EXPECT_EQ(byre_buffer_shares_data_with(device.source, clone), 1);
    byre_buffer_release(clone);
    EXPECT_EQ(byre_buffer_is_unique(device.source), 1) << "no copy is pending";
    byre_buffer_release(device.source);
    EXPECT_EQ(device.counting.allocated, device.counting.deallocated);
    return status;
  };
  for (const bool is_submitted : {true, false}) {
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_null = true; }, is_submitted),
                      BYRE_OUT_OF_MEMORY, "4 bytes", "counting"));
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_misaligned = true; }, is_submitted),
                      BYRE_INVALID_ARGUMENT, "counting", "aligned to 64"));
    EXPECT_TRUE(fails(copied_into([](Counting& c) { c.is_small = true; }, is_submitted),
                      BYRE_INVALID_ARGUMENT, "returned 3 bytes", "at least 4"));
  }
}

TEST(CAllocatorsDeathTest, submission_that_fails_with_its_handle_ends_the_program) {
  const auto submit_with = [](auto change) {
    Submitting device;
    CBuffer clone;
    EXPECT_TRUE(ok(byre_buffer_clone(device.source, clone)));
    device.counting.takes_before_it_fails = true;
    change(device.counting);
    (void)byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr);
  };
  EXPECT_DEATH(
      submit_with([](Counting& c) { c.allocate_status = BYRE_USER_STATUS; }),
      "took the handle of a copy, then failed: submit_copy of counting.*status 1000.*Take");
  EXPECT_DEATH(submit_with([](Counting& c) { c.allocate_status = BYRE_OUT_OF_MEMORY; }),
               "took the handle.*out of memory");
  EXPECT_DEATH(submit_with([](Counting& c) { c.is_null = true; }),
               "took the handle.*out of memory");
  EXPECT_DEATH(submit_with([](Counting& c) { c.is_small = true; }), "took the handle.*at least 4");
  EXPECT_DEATH(submit_with([](Counting& c) { c.throws_a_number = true; }),
               "took the handle.*an exception of an unknown type");
}

TEST(CAllocators, submission_that_throws_before_it_took_the_handle_fails) {
  Submitting device;
  device.counting.takes_pending = false;
  device.counting.throws_a_number = true;
  CBuffer clone;
  ASSERT_TRUE(ok(byre_buffer_clone(device.source, clone)));
  EXPECT_TRUE(fails(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr), BYRE_FAILED));
  EXPECT_EQ(byre_buffer_shares_data_with(device.source, clone), 1);
  byre_buffer_release(clone);
  EXPECT_EQ(byre_buffer_is_unique(device.source), 1) << "no copy is pending";
}

TEST(CAllocators, submission_without_its_function_copies_at_once) {
  Counting counting;
  auto table = counting.functions();
  table.device_kind = 1;
  table.copies_end = BYRE_COPIES_END_IN_ORDER;
  table.copy = &copy;
  CAllocator allocator;
  ASSERT_TRUE(ok(byre_allocator_create(&table, allocator.result())));
  CBuffer source, clone;
  ASSERT_TRUE(ok(byre_buffer_allocate(4, allocator, source)));
  ASSERT_TRUE(ok(byre_buffer_clone(source, clone)));
  ASSERT_TRUE(ok(byre_buffer_materialize(clone, BYRE_WAIT_ALLOWED, nullptr)));
  EXPECT_EQ(counting.copied, 1);
}

}  // namespace
}  // namespace byre::test
