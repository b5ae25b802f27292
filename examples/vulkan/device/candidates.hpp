// SPDX-License-Identifier: BSL-1.0
/// The devices of the driver's, what each can do, and which is taken.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace examples::vulkan {

struct DeviceFeatures {
  VkPhysicalDeviceFeatures2 core{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features of_11{.sType =
                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features of_12{.sType =
                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan13Features of_13{.sType =
                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};

  /// For a call of Vulkan, which reads or writes all of them from `core` on.
  void chain() noexcept {
    core.pNext = &of_11;
    of_11.pNext = &of_12;
    of_12.pNext = &of_13;
  }
};

struct NeededFeature {
  const char* name;
  VkBool32& (*of)(DeviceFeatures& features);
};

#define EXAMPLES_FEATURE(where, feature)                                                    \
  NeededFeature {                                                                           \
#feature, [](DeviceFeatures & features) -> VkBool32& { return features.where.feature; } \
  }
inline constexpr std::array needed_features{
    EXAMPLES_FEATURE(of_12, timelineSemaphore),
    EXAMPLES_FEATURE(of_13, synchronization2),
    EXAMPLES_FEATURE(
        of_13, maintenance4),  // sizes of work groups by LocalSizeId, as glslang makes for 1.3
    EXAMPLES_FEATURE(of_12, storageBuffer8BitAccess),
    EXAMPLES_FEATURE(of_11, storageBuffer16BitAccess),
    EXAMPLES_FEATURE(core.features, shaderInt16),
    EXAMPLES_FEATURE(core.features, shaderInt64),
};
#undef EXAMPLES_FEATURE

struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string description;
  VkPhysicalDeviceLimits limits{};
  int rank = 0;                  ///< the less the better
  std::uint64_t max_nbytes = 0;  ///< of an allocation and of a buffer
  DeviceFeatures features;
  std::uint32_t queue_family = 0;  ///< one that computes and copies
  std::string missing;             ///< what it would need, or nothing
};

std::vector<Candidate> candidates_of(VkInstance instance);

/// The number of the one that BYRE_VULKAN_DEVICE names, or that suits best. Throws VulkanError if there is none.
std::size_t choose(const std::vector<Candidate>& candidates);

}  // namespace examples::vulkan
