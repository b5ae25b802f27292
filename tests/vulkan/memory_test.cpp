// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>

#include "device.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan::test {
namespace {

constexpr std::size_t large_nbytes = 8 * DeviceMemory::large_from;

byre::Buffer allocate(std::size_t nbytes) {
  return byre::Buffer::allocate(nbytes, memory());
}

class VulkanMemory : public OnIdleDevice {
 protected:
  /// The number of large blocks that have become idle since the test began.
  std::size_t idle_blocks() const {
    return (memory().stats().idle_nbytes - before_.idle_nbytes) / large_nbytes;
  }
};

TEST_F(VulkanMemory, finds_blocks_by_addresses_that_no_process_maps) {
  std::vector<byre::Buffer> buffers;
  for (const std::size_t nbytes :
       {0UL, 1UL, 256UL, 257UL, 100000UL, large_nbytes, large_nbytes + 1}) {
    const byre::Buffer& buffer = buffers.emplace_back(allocate(nbytes));
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
    EXPECT_GE(address, std::uintptr_t{1} << 56);
    EXPECT_EQ(address % 256, 0U);
    DeviceBlock& block = memory().find(buffer.data(), nbytes);
    const std::size_t capacity = block.block.capacity;
    EXPECT_EQ(&memory().find(buffer.data() + capacity - 1, 1), &block);
    EXPECT_THROW(memory().find(buffer.data(), capacity + 1), byre::InvalidArgument);
    EXPECT_THROW(memory().find(buffer.data() + 1, capacity), byre::InvalidArgument);
    if (nbytes >= large_nbytes) {
      EXPECT_THROW(memory().find(buffer.data() + capacity, 1), byre::InvalidArgument);
      EXPECT_THROW(memory().find(buffer.data() + capacity + 1, 1), byre::InvalidArgument);
    }
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  for (std::size_t i = 1; i != buffers.size(); ++i) {
    EXPECT_LE(buffers[i - 1].data() + buffers[i - 1].nbytes(), buffers[i].data());
  }
  EXPECT_THROW(memory().find(&buffers, 1), byre::InvalidArgument);
  const void* const address = buffers.back().data();
  buffers.clear();
  memory().trim();
  EXPECT_THROW(memory().find(address, 1), byre::InvalidArgument);
}

TEST_F(VulkanMemory, wastes_less_than_256_bytes_or_a_quarter_of_the_request) {
  for (std::size_t nbytes = 1; nbytes < large_nbytes; nbytes += 1 + nbytes / 7) {
    const byre::Buffer buffer = allocate(nbytes);
    const std::size_t capacity = memory().find(buffer.data(), 1).block.capacity;
    EXPECT_LT(capacity, nbytes + std::max<std::size_t>(256, nbytes / 4)) << nbytes;
  }
}

TEST_F(VulkanMemory, allocates_each_large_block_separately_and_counts_it) {
  const std::size_t nbytes = DeviceMemory::large_from + large_nbytes;
  const auto expect = [&](std::size_t held, std::size_t live, std::size_t idle, std::size_t peak) {
    const MemoryStats now = memory().stats();
    EXPECT_EQ(now.held_nbytes, before_.held_nbytes + held);
    EXPECT_EQ(now.allocations, before_.allocations + (held == 0 ? 0 : 2));
    EXPECT_EQ(now.live_nbytes, before_.live_nbytes + live);
    EXPECT_EQ(now.idle_nbytes, before_.idle_nbytes + idle);
    EXPECT_EQ(now.peak_nbytes, before_.live_nbytes + peak);
  };
  {
    const byre::Buffer first = allocate(DeviceMemory::large_from);
    const byre::Buffer second = allocate(large_nbytes);
    expect(nbytes, nbytes, 0, nbytes);
  }
  expect(nbytes, 0, nbytes, nbytes);
  memory().reset_peak();
  expect(nbytes, 0, nbytes, 0);
  memory().trim();
  expect(0, 0, 0, 0);
}

TEST_F(VulkanMemory, takes_many_small_blocks_from_one_device_allocation) {
  for (const std::size_t nbytes : {200UL, 1280UL, 100000UL, DeviceMemory::large_from - 1}) {
    const std::size_t before = memory().stats().allocations;
    std::vector<byre::Buffer> buffers;
    for (std::uint32_t i = 0; i != 64; ++i) {
      upload(buffers.emplace_back(allocate(nbytes)), Words(nbytes / 4, i));
    }
    EXPECT_LE(memory().stats().allocations, before + 1) << nbytes;
    for (std::uint32_t i = 0; i != 64; ++i) {
      EXPECT_EQ(to_host(buffers[i]), Words(nbytes / 4, i));
    }
  }
}

TEST_F(VulkanMemory, reuses_a_released_block_while_the_device_uses_it) {
  for (const std::size_t nbytes : {std::size_t{1024}, large_nbytes}) {
    byre::Buffer first = to_device(counting(nbytes / 4));
    const Queue::Hold hold(queue());
    const void* const address = first.data();
    add_(first, 1);
    first = {};
    EXPECT_EQ(allocate(nbytes - 100).data(), address) << nbytes;
  }
}

TEST_F(VulkanMemory, returns_memory_after_the_device_has_used_it) {
  byre::Buffer buffer = to_device(counting(large_nbytes / 4));
  Queue::Hold hold(queue());
  add_(buffer, 1);
  queue().submit();
  buffer = {};
  memory().trim();
  EXPECT_EQ(memory().stats().idle_nbytes, before_.idle_nbytes);
  EXPECT_EQ(memory().stats().held_nbytes, before_.held_nbytes + large_nbytes);
  hold.release();
  queue().wait_idle();
  EXPECT_EQ(memory().stats().held_nbytes, before_.held_nbytes);
}

TEST_F(VulkanMemory, returns_half_of_the_memory_that_was_idle_for_ten_seconds) {
  std::vector<byre::Buffer> buffers;
  for (int i = 0; i != 4; ++i) {
    buffers.push_back(allocate(large_nbytes));
  }
  buffers.clear();
  faults::seconds_ahead += 11;  // the next request begins a period in which the blocks stay idle
  buffers.push_back(allocate(2 * large_nbytes));
  EXPECT_EQ(idle_blocks(), 4U);
  faults::seconds_ahead += 11;
  for (const std::size_t left : {3U, 2U, 2U}) {
    buffers.push_back(allocate(2 * large_nbytes));
    EXPECT_EQ(idle_blocks(), left);
  }
}

}  // namespace
}  // namespace examples::vulkan::test
