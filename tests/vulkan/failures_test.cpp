// SPDX-License-Identifier: BSL-1.0
/// Failing calls of the driver: they leave data and owners unchanged.
#include <gtest/gtest.h>

#include <string>

#include "device.hpp"
#include "support/complaint.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan::test {
namespace {

using byre::test::complaint_of;
using byre::test::says;

class VulkanFailures : public OnIdleDevice {};

TEST_F(VulkanFailures, of_a_copy_leave_the_data_shared_and_unchanged) {
  for (const bool is_refused : {true, false}) {
    byre::Buffer original = to_device(counting(many));
    byre::Buffer clone = original.lazy_clone();
    const void* const address = original.data();
    queue().submit();
    if (is_refused) {
      faults::submit.fail(VK_ERROR_OUT_OF_DEVICE_MEMORY);
      EXPECT_EQ(complaint_of<VulkanError>([&] { clone.mutable_data(); }),
                "vkQueueSubmit2 failed: VkResult -2 (out of memory).");
    } else {
      memory().trim();
      faults::allocate_memory.fail(VK_ERROR_OUT_OF_DEVICE_MEMORY, 2);
      EXPECT_THROW(clone.mutable_data(), byre::OutOfMemory);
    }
    EXPECT_EQ(std::as_const(clone).data(), address);
    EXPECT_EQ(original.use_count(), 2U);
    EXPECT_EQ(to_host(clone), counting(many));
    add_(clone, 1);
    add_(original, 2);
    EXPECT_EQ(to_host(clone), counting(many, 1));
    EXPECT_EQ(to_host(original), counting(many, 2));
  }
}

TEST_F(VulkanFailures, to_allocate_are_retried_after_returning_idle_memory) {
  to_device(counting(many));
  EXPECT_GE(memory().stats().idle_nbytes, many * 4);
  const std::size_t held = memory().stats().held_nbytes;
  faults::allocate_memory.fail(VK_ERROR_TOO_MANY_OBJECTS);
  const byre::Buffer twice = to_device(counting(2 * many));
  EXPECT_EQ(memory().stats().held_nbytes, held + many * 4);
  EXPECT_EQ(to_host(twice), counting(2 * many));
}

TEST_F(VulkanFailures, to_allocate_throw_out_of_memory_and_name_an_exceeded_limit) {
  const std::size_t most = Gpu::get().driver().max_nbytes;
  // 200,000 bytes belong to a slab, and no other test requests this size.
  for (const std::size_t nbytes : {std::size_t{200'000}, many, most / 4096 * 4096, most + 1}) {
    for (const VkResult result : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY}) {
      faults::allocate_memory.fail(result, 2);
      const std::string said =
          complaint_of<byre::OutOfMemory>([&] { byre::Buffer::allocate(nbytes, memory()); });
      EXPECT_TRUE(says(said, "vulkan memory"));
      EXPECT_FALSE(said.starts_with("another type"));
      EXPECT_EQ(bool(says(said, "maxBufferSize")), nbytes > most);
    }
  }
  faults::allocate_memory.fail(VK_SUCCESS, 0);
  EXPECT_NO_THROW(byre::Buffer::allocate(200'000, memory()));
}

TEST_F(VulkanFailures, to_allocate_staging_memory_are_retried) {
  byre::Buffer buffer = to_device(Words(many, 1));
  to_device(counting(many));
  const std::size_t idle = memory().stats().idle_nbytes;
  faults::allocate_memory.fail(VK_ERROR_OUT_OF_DEVICE_MEMORY);
  upload(buffer, counting(many));
  EXPECT_EQ(memory().stats().idle_nbytes, idle - many * 4)
      << "expected idle memory to be returned before the second try";
  EXPECT_EQ(to_host(buffer), counting(many));
}

TEST_F(VulkanFailures, to_submit_retain_the_commands_for_the_next_submission) {
  byre::Buffer buffer = to_device(counting(many));
  add_(buffer, 1);
  faults::submit.fail(VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_THROW(queue().submit(), VulkanError);
  add_(buffer, 1);
  EXPECT_EQ(to_host(buffer), counting(many, 2));
  // A failure to submit a full command buffer is not reported: the next submission tries again.
  faults::submit.fail(VK_ERROR_OUT_OF_HOST_MEMORY);
  for (unsigned i = 0; i != Commands::most; ++i) {
    add_(buffer, 1);
  }
  EXPECT_EQ(to_host(buffer), counting(many, 2 + Commands::most));
}

}  // namespace
}  // namespace examples::vulkan::test
