// SPDX-License-Identifier: BSL-1.0
/// What a device of the driver's can do, and whether that suffices.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace examples::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string description;
  VkPhysicalDeviceLimits limits{};
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::uint64_t max_nbytes = 0;  ///< of an allocation and of a buffer
  bool has_int8 = false;
  bool has_float16 = false;
  bool has_float64 = false;
  std::optional<std::uint32_t> queue_family;  ///< one that computes and copies
  std::string missing;                        ///< what it would need, or nothing
};

std::vector<PhysicalDevice> physical_devices(VkInstance instance);

/// The one BYRE_VULKAN_DEVICE names, or the one that suits best. Throws VulkanError if there is none.
std::uint32_t choose(const std::vector<PhysicalDevice>& devices);

}  // namespace examples::vulkan
