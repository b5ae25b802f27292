// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "device.hpp"

namespace examples::vulkan::test {

TEST(VulkanMemory, brings_back_what_was_uploaded) {
  for (const std::size_t count : {1U, 63U, 65536U, 1U << 20, (5U << 20) + 3}) {
    const Words words = counting(count, 7);
    EXPECT_EQ(to_host(to_device(words)), words) << count;
  }
}

}  // namespace examples::vulkan::test
