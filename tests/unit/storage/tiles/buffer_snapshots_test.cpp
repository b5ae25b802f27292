// SPDX-License-Identifier: BSL-1.0
/// Snapshots of buffers, which are dropped as a whole.
#include <byre/memory/budget.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "memory/budget_test.hpp"
#include "memory_sink.hpp"
#include "support/at_once.hpp"

namespace byre::test {
namespace {

TEST(BufferSnapshots, a_write_without_room_saves_the_rest_of_the_buffer) {
  constexpr std::size_t size = (std::size_t{2} << 20) + 7;
  for (Allocator* const inner : {&default_allocator(), &paged_allocator()}) {
    Budget budget(size + size / 2);
    BudgetedAllocator allocator(*inner, budget);
    Buffer buffer = Buffer::allocate(size, allocator);
    std::memset(buffer.mutable_data(), 'a', size);
    buffer.mutable_data()[size - 1] = std::byte{'z'};
    const std::byte* const place = buffer.data();
    MemorySink sink(size);
    SnapshotWriter writer(buffer, sink);
    EXPECT_EQ(writer.write_some(1), std::size_t{1} << 20);
    EXPECT_EQ(writer.nbytes_left(), size - (std::size_t{1} << 20));
    std::memset(buffer.mutable_data(), 'b', size);
    EXPECT_EQ(buffer.data(), place);
    EXPECT_EQ(sink.order.size(), 3U);
    EXPECT_EQ(writer.nbytes_left(), 0U);
    writer.finish();
    EXPECT_EQ(sink.bytes, std::string(size - 1, 'a') + 'z');
    EXPECT_EQ(budget.peak(), budget.used());
  }
}

TEST(BufferSnapshots, a_failure_drops_the_buffer_after_the_parts_of_other_threads) {
  need_threads();
  constexpr std::size_t size = std::size_t{3} << 20;
  FailingAllocator memory;
  Budget budget(size);
  BudgetedAllocator allocator(memory, budget);
  MemorySink sink(size);
  Halt halt;
  sink.before_write = [&](std::size_t offset) {
    if (offset != 0) {
      throw std::runtime_error("the disk is full");
    }
    halt.enter();
  };
  SnapshotWriter writer(Buffer::allocate(size, allocator), sink);
  std::thread saving([&] { EXPECT_THROW(writer.write_some(1), std::runtime_error); });
  halt.await_entry();
  EXPECT_THROW(writer.write_some(1), std::runtime_error);
  EXPECT_EQ(budget.used(), size);  // the first part is being written
  halt.let_go();
  saving.join();
  EXPECT_EQ(budget.used(), 0U);
}

TEST(BufferSnapshots, an_allocation_makes_it_save_a_whole_buffer) {
  constexpr std::size_t size = std::size_t{200} << 20;  // more parts than rounds of a request
  class Nothing final : public SnapshotSink {
    void write(std::size_t, std::span<const std::byte>) override {}
    void commit() override {}
  } sink;
  Budget budget(size + (std::size_t{1} << 20));
  BudgetedAllocator allocator(default_allocator(), budget);
  SnapshotWriter writer(Buffer::allocate(size, allocator), sink);
  EXPECT_EQ(Buffer::allocate(std::size_t{2} << 20, allocator).nbytes(), std::size_t{2} << 20);
  EXPECT_EQ(writer.nbytes_left(), 0U);
}

}  // namespace
}  // namespace byre::test
