// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>

#include "device.hpp"
#include "shaders.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan::test {
namespace {

constexpr std::size_t large_nbytes = 8 * DeviceMemory::large_from;

byre::Buffer allocate(std::size_t nbytes) {
  return byre::Buffer::allocate(nbytes, gpu().memory());
}

std::size_t capacity_of(const byre::Buffer& buffer) {
  return gpu().memory().find(buffer.data(), 1).block.capacity;
}

/// With nothing idle, and nothing that waits to be given back.
void begin_anew() {
  gpu().queue().wait_idle();
  gpu().memory().trim();
  gpu().memory().reset_peak();
}

/// Where the device uses nothing that was released.
void expect_that_all_that_is_held_is_out_or_idle() {
  const DeviceMemory& memory = gpu().memory();
  EXPECT_EQ(memory.held_nbytes(), memory.live_nbytes() + memory.idle_nbytes());
}

TEST(VulkanMemory, brings_back_what_was_uploaded) {
  for (const std::size_t words_count : {1U, 63U, 65536U, 1U << 20, (5U << 20) + 3}) {
    const Words words = counting(words_count, 7);
    EXPECT_EQ(to_host(to_device(words)), words) << words_count;
  }
}

TEST(VulkanMemory, has_addresses_that_are_none_of_the_host) {
  std::vector<byre::Buffer> buffers;
  for (const std::size_t nbytes :
       {0UL, 1UL, 256UL, 257UL, 100000UL, large_nbytes, large_nbytes + 1}) {
    buffers.push_back(allocate(nbytes));
    const auto address = reinterpret_cast<std::uintptr_t>(buffers.back().data());
    EXPECT_GE(address, std::uintptr_t{1} << 56);
    EXPECT_EQ(address % 256, 0U);
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  for (std::size_t i = 1; i != buffers.size(); ++i) {
    EXPECT_LE(buffers[i - 1].data() + buffers[i - 1].nbytes(), buffers[i].data());
  }
}

TEST(VulkanMemory, finds_the_block_that_an_address_is_in) {
  for (const std::size_t nbytes : {1000UL, large_nbytes}) {
    const byre::Buffer buffer = allocate(nbytes);
    DeviceMemory& memory = gpu().memory();
    DeviceBlock& block = memory.find(buffer.data(), nbytes);
    EXPECT_EQ(&memory.find(buffer.data() + nbytes - 1, 1), &block);
    EXPECT_THROW(memory.find(buffer.data(), block.block.capacity + 1), byre::InvalidArgument);
    EXPECT_THROW(memory.find(buffer.data() + 1, block.block.capacity), byre::InvalidArgument);
    EXPECT_THROW(memory.find(&block, 1), byre::InvalidArgument);
  }
}

TEST(VulkanMemory, finds_nothing_behind_a_block_of_its_own) {
  begin_anew();
  const byre::Buffer first = allocate(large_nbytes);
  const byre::Buffer last = allocate(large_nbytes);
  for (const byre::Buffer& buffer : {first, last}) {
    EXPECT_THROW(gpu().memory().find(buffer.data() + large_nbytes, 1), byre::InvalidArgument);
    EXPECT_THROW(gpu().memory().find(buffer.data() + large_nbytes + 1, 1), byre::InvalidArgument);
  }
}

TEST(VulkanMemory, finds_nothing_in_what_was_given_back) {
  for (const std::size_t nbytes : {1000UL, large_nbytes}) {
    begin_anew();
    byre::Buffer buffer = allocate(nbytes);
    const void* const address = buffer.data();
    buffer = {};
    gpu().memory().trim();
    EXPECT_THROW(gpu().memory().find(address, 1), byre::InvalidArgument) << nbytes;
  }
}

TEST(VulkanMemory, gives_less_than_a_quarter_or_256_bytes_more_than_is_asked) {
  for (std::size_t nbytes = 1; nbytes < large_nbytes; nbytes += 1 + nbytes / 7) {
    const std::size_t capacity = capacity_of(allocate(nbytes));
    EXPECT_LT(capacity, nbytes + std::max<std::size_t>(256, nbytes / 4)) << nbytes;
  }
}

TEST(VulkanMemory, has_large_blocks_in_allocations_of_their_own) {
  begin_anew();
  const std::size_t before = gpu().memory().allocations();
  const std::size_t held = gpu().memory().held_nbytes();
  const byre::Buffer first = allocate(DeviceMemory::large_from);
  const byre::Buffer second = allocate(large_nbytes);
  EXPECT_EQ(gpu().memory().allocations(), before + 2);
  EXPECT_EQ(gpu().memory().held_nbytes(), held + DeviceMemory::large_from + large_nbytes);
}

TEST(VulkanMemory, hands_a_large_block_out_again_for_a_little_more) {
  begin_anew();
  byre::Buffer first = allocate(large_nbytes - 100);
  const void* const address = first.data();
  first = {};
  EXPECT_EQ(allocate(large_nbytes).data(), address);
}

TEST(VulkanMemory, gives_back_what_nobody_needs_for_a_time) {
  begin_anew();
  DeviceMemory& memory = gpu().memory();
  std::vector<byre::Buffer> buffers(4, byre::Buffer());
  for (byre::Buffer& buffer : buffers) {
    buffer = allocate(large_nbytes);
  }
  buffers.clear();
  faults::pass_seconds(11);  // what is idle from here on
  const byre::Buffer other = allocate(2 * large_nbytes);
  EXPECT_EQ(memory.idle_nbytes(), 4 * large_nbytes);
  faults::pass_seconds(11);
  const byre::Buffer another = allocate(2 * large_nbytes);
  EXPECT_EQ(memory.idle_nbytes(), 3 * large_nbytes) << "one for each request";
  const byre::Buffer third = allocate(2 * large_nbytes);
  EXPECT_EQ(memory.idle_nbytes(), 2 * large_nbytes) << "half of them";
  allocate(4 * large_nbytes);
  EXPECT_EQ(memory.idle_nbytes(), 6 * large_nbytes);
  expect_that_all_that_is_held_is_out_or_idle();
}

TEST(VulkanMemory, hands_a_released_block_out_again_though_the_device_still_uses_it) {
  begin_anew();
  for (const std::size_t nbytes : {std::size_t{1024}, large_nbytes}) {
    byre::Buffer first = to_device(counting(nbytes / 4));
    const Add add;
    add(first, 1);
    const Queue::Hold hold(gpu().queue());
    const void* const address = first.data();
    add(first, 1);
    first = {};
    const byre::Buffer second = allocate(nbytes);
    EXPECT_EQ(second.data(), address) << nbytes;
  }
}

TEST(VulkanMemory, gives_memory_back_once_the_device_has_used_it) {
  begin_anew();
  const std::size_t before = gpu().memory().held_nbytes();
  byre::Buffer buffer = to_device(counting(large_nbytes / 4));
  Queue::Hold hold(gpu().queue());
  const Add add;
  add(buffer, 1);
  gpu().queue().submit();
  buffer = {};
  gpu().memory().trim();
  EXPECT_EQ(gpu().memory().idle_nbytes(), 0U);
  EXPECT_EQ(gpu().memory().held_nbytes(), before + large_nbytes);
  hold.release();
  gpu().queue().wait_idle();
  EXPECT_EQ(gpu().memory().held_nbytes(), before);
}

TEST(VulkanMemory, has_many_small_blocks_in_few_allocations) {
  begin_anew();
  const std::size_t before = gpu().memory().allocations();
  {
    std::vector<byre::Buffer> buffers;
    for (std::uint32_t i = 0; i != 2000; ++i) {
      buffers.push_back(allocate(200 + i % 100));
      gpu().queue().fill(buffers.back().mutable_data(), i, 200);
    }
    EXPECT_LE(gpu().memory().allocations(), before + 2);
    for (std::uint32_t i = 0; i < 2000; i += 97) {
      EXPECT_EQ(to_host(buffers[i]).front(), i);
      EXPECT_EQ(to_host(buffers[i])[49], i);
    }
  }
  begin_anew();
  EXPECT_EQ(gpu().memory().allocations(), before);
}

TEST(VulkanMemory, has_many_blocks_of_each_small_size_in_one_allocation) {
  for (const std::size_t nbytes : {1280UL, 100000UL, DeviceMemory::large_from - 1}) {
    begin_anew();
    const std::size_t before = gpu().memory().allocations();
    std::vector<byre::Buffer> buffers;
    for (int i = 0; i != 64; ++i) {
      buffers.push_back(allocate(nbytes));
    }
    EXPECT_EQ(gpu().memory().allocations(), before + 1) << nbytes;
    EXPECT_EQ(gpu().memory().idle_nbytes() % capacity_of(buffers.front()), 0U) << nbytes;
    expect_that_all_that_is_held_is_out_or_idle();
  }
}

TEST(VulkanMemory, keeps_slabs_as_long_as_anything_is_to_be_kept) {
  begin_anew();
  DeviceMemory& memory = gpu().memory();
  const std::size_t before = memory.allocations();
  allocate(1000);
  memory.trim(1);
  EXPECT_EQ(memory.allocations(), before + 1);
  memory.trim();
  EXPECT_EQ(memory.allocations(), before);
}

TEST(VulkanMemory, keeps_no_more_idle_than_its_limit) {
  begin_anew();
  DeviceMemory& memory = gpu().memory();
  const std::size_t limit = memory.limit_nbytes();
  memory.set_limit_nbytes(large_nbytes);
  {
    const byre::Buffer first = allocate(large_nbytes);
    const byre::Buffer second = allocate(large_nbytes);
    EXPECT_EQ(memory.idle_nbytes(), 0U);
  }
  EXPECT_EQ(memory.idle_nbytes(), large_nbytes);
  memory.set_limit_nbytes(3 * large_nbytes);
  {
    const byre::Buffer small = allocate(large_nbytes);
    const byre::Buffer as_small = allocate(large_nbytes);
    const byre::Buffer larger = allocate(3 * large_nbytes);
  }
  EXPECT_EQ(memory.idle_nbytes(), 2 * large_nbytes) << "the largest was released first";
  allocate(3 * large_nbytes);
  EXPECT_EQ(memory.idle_nbytes(), 3 * large_nbytes) << "in place of both of the others";
  expect_that_all_that_is_held_is_out_or_idle();
  memory.set_limit_nbytes(0);
  EXPECT_EQ(memory.idle_nbytes(), 0U);
  memory.set_limit_nbytes(limit);
}

TEST(VulkanMemory, keeps_an_eighth_of_its_heap_idle_if_nobody_says_how_much) {
  EXPECT_EQ(gpu().memory().limit_nbytes(), gpu().driver().heap_nbytes() / 8);
}

TEST(VulkanMemory, tells_what_is_out_and_the_most_that_was) {
  begin_anew();
  DeviceMemory& memory = gpu().memory();
  const std::size_t before = memory.live_nbytes();
  {
    const byre::Buffer first = allocate(large_nbytes);
    const byre::Buffer second = allocate(256);
    EXPECT_EQ(memory.live_nbytes(), before + large_nbytes + 256);
  }
  EXPECT_EQ(memory.live_nbytes(), before);
  EXPECT_EQ(memory.peak_nbytes(), before + large_nbytes + 256);
  const byre::Buffer third = allocate(256);
  EXPECT_EQ(memory.peak_nbytes(), before + large_nbytes + 256);
  memory.reset_peak();
  EXPECT_EQ(memory.peak_nbytes(), before + 256);
}

TEST(VulkanMemory, takes_the_block_back_that_was_to_have_a_copy) {
  const std::size_t before = gpu().memory().live_nbytes();
  const byre::Buffer source = allocate(1000);
  const std::size_t live = gpu().memory().live_nbytes();
  EXPECT_THROW(gpu().memory().allocate_copy({1000, 64}, &live, 8), byre::InvalidArgument);
  EXPECT_EQ(gpu().memory().live_nbytes(), live);
  EXPECT_GT(live, before);
}

TEST(VulkanMemory, refuses_more_than_a_buffer_of_the_device_can_have) {
  const std::size_t nbytes = gpu().driver().max_nbytes() + 1;
  try {
    allocate(nbytes);
    FAIL();
  } catch (const byre::OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("maxBufferSize"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace examples::vulkan::test
