// SPDX-License-Identifier: BSL-1.0
/// Calls of the driver that fail, and leave all as it was.
#include <gtest/gtest.h>

#include <string>

#include "device.hpp"
#include "shaders.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan::test {
namespace {

constexpr std::size_t many = 1U << 18;

class VulkanFailures : public testing::Test {
 protected:
  void SetUp() override {
    gpu().queue().wait_idle();
    gpu().memory().trim();
    live_before_ = gpu().memory().live_nbytes();
  }

  void TearDown() override {
    faults::clear();
    gpu().queue().wait_idle();
    EXPECT_EQ(gpu().memory().live_nbytes(), live_before_);
  }

  Add add_;

 private:
  std::size_t live_before_ = 0;
};

TEST_F(VulkanFailures, a_writer_whose_copy_is_refused_shares_still) {
  byre::Buffer original = to_device(counting(many));
  byre::Buffer clone = original.lazy_clone();
  const void* const address = clone.data();
  gpu().queue().submit();
  faults::fail_submit(1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  try {
    clone.mutable_data();
    FAIL();
  } catch (const VulkanError& error) {
    EXPECT_NE(std::string(error.what()).find("vkQueueSubmit2"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("VK_ERROR_OUT_OF_DEVICE_MEMORY"), std::string::npos);
  }
  EXPECT_EQ(std::as_const(clone).data(), address);
  EXPECT_EQ(original.use_count(), 2U);
  EXPECT_EQ(to_host(clone), counting(many));
  add_(clone, 1);
  add_(original, 2);
  EXPECT_EQ(to_host(clone), counting(many, 1));
  EXPECT_EQ(to_host(original), counting(many, 2));
}

TEST_F(VulkanFailures, a_writer_without_memory_for_its_copy_shares_still) {
  byre::Buffer original = to_device(counting(many));
  byre::Buffer clone = original.lazy_clone();
  faults::fail_allocate_memory(1, VK_ERROR_OUT_OF_DEVICE_MEMORY, 2);
  EXPECT_THROW(clone.mutable_data(), byre::OutOfMemory);
  EXPECT_EQ(original.use_count(), 2U);
  EXPECT_EQ(to_host(clone), counting(many));
  add_(clone, 1);
  EXPECT_EQ(to_host(original), counting(many));
}

TEST_F(VulkanFailures, memory_that_is_idle_is_given_back_before_a_request_fails) {
  to_device(counting(many));
  EXPECT_GE(gpu().memory().idle_nbytes(), many * 4);
  const std::size_t held = gpu().memory().held_nbytes();
  faults::fail_allocate_memory(1, VK_ERROR_TOO_MANY_OBJECTS);
  const byre::Buffer twice = to_device(counting(2 * many));
  EXPECT_EQ(gpu().memory().held_nbytes(), held + many * 4);
  EXPECT_EQ(to_host(twice), counting(2 * many));
}

TEST_F(VulkanFailures, a_host_without_memory_is_a_device_without) {
  faults::fail_allocate_memory(1, VK_ERROR_OUT_OF_HOST_MEMORY, 2);
  EXPECT_THROW(byre::Buffer::allocate(many, gpu().memory()), byre::OutOfMemory);
}

TEST_F(VulkanFailures, the_largest_buffer_there_is_is_asked_for) {
  faults::fail_allocate_memory(1, VK_ERROR_OUT_OF_DEVICE_MEMORY, 2);
  try {
    byre::Buffer::allocate(gpu().driver().max_nbytes() / 4096 * 4096, gpu().memory());
    FAIL();
  } catch (const byre::OutOfMemory& error) {
    EXPECT_EQ(std::string(error.what()).find("maxBufferSize"), std::string::npos) << error.what();
  }
}

TEST_F(VulkanFailures, small_blocks_fail_as_large_ones_do) {
  faults::fail_allocate_memory(1, VK_ERROR_OUT_OF_DEVICE_MEMORY, 2);
  // Of a size that no other test asks for.
  EXPECT_THROW(byre::Buffer::allocate(200000, gpu().memory()), byre::OutOfMemory);
  EXPECT_NO_THROW(byre::Buffer::allocate(200000, gpu().memory()));
}

TEST_F(VulkanFailures, memory_for_what_comes_and_goes_is_tried_for_again_too) {
  if (gpu().driver().maps_blocks()) {
    GTEST_SKIP() << "the host writes the device's memory itself";
  }
  byre::Buffer buffer = to_device(Words(many, 1));
  gpu().queue().wait_idle();
  to_device(counting(many));  // which the device is yet to fill
  EXPECT_GE(gpu().memory().idle_nbytes(), many * 4);
  const Words words = counting(7 * many);  // of a size that has not been staged yet
  auto large = byre::Buffer::allocate(words.size() * 4, gpu().memory());
  const std::size_t held = gpu().memory().held_nbytes();
  faults::fail_allocate_memory(1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_NO_THROW(gpu().queue().upload(large.mutable_data(), words.data(), words.size() * 4));
  EXPECT_EQ(gpu().memory().idle_nbytes(), 0U) << "idle memory made room";
  EXPECT_LT(gpu().memory().held_nbytes(), held) << "at once";
  EXPECT_EQ(to_host(large), words);
}

TEST_F(VulkanFailures, what_was_recorded_is_executed_though_the_driver_refused_it_once) {
  byre::Buffer buffer = to_device(counting(many));
  add_(buffer, 1);
  faults::fail_submit(1, VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_THROW(gpu().queue().submit(), VulkanError);
  add_(buffer, 1);
  EXPECT_EQ(to_host(buffer), counting(many, 2));
}

TEST_F(VulkanFailures,
       what_one_submission_has_recorded_is_executed_though_the_driver_refused_it_once) {
  byre::Buffer buffer = to_device(counting(many));
  byre::Buffer clone = buffer.lazy_clone();
  gpu().queue().submit();
  faults::fail_submit(1, VK_ERROR_OUT_OF_HOST_MEMORY);
  {
    const Queue::OneSubmission one(gpu().queue());
    add_(clone, 1);
  }
  EXPECT_EQ(to_host(clone), counting(many, 1));
  EXPECT_EQ(to_host(buffer), counting(many));
}

}  // namespace
}  // namespace examples::vulkan::test
