// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/candidates.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {
namespace {

/// Threads in a group of the operators' shaders; Vulkan promises 128.
constexpr std::uint32_t needed_invocations = 256;

void read_properties(Candidate& device) {
  VkPhysicalDeviceMaintenance4Properties maintenance4{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &maintenance4};
  VkPhysicalDeviceDriverProperties driver{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &maintenance3};
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &driver};
  vkGetPhysicalDeviceProperties2(device.handle, &properties);
  device.limits = properties.properties.limits;
  device.max_nbytes = std::min(maintenance3.maxMemoryAllocationSize, maintenance4.maxBufferSize);
  device.description += std::string(", ") + driver.driverName + ' ' + driver.driverInfo;
}

void read_queue_family(Candidate& device) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  const auto found = std::ranges::find_if(families, [](const VkQueueFamilyProperties& family) {
    return (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;  // which copies too
  });
  device.queue_family = static_cast<std::uint32_t>(found - families.begin());
  device.missing += found == families.end() ? ", a queue that computes" : "";
}

Candidate describe(VkPhysicalDevice handle) {
  Candidate device;
  device.handle = handle;
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(handle, &properties);
  const std::uint32_t version = properties.apiVersion;
  const std::array ranks{VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                         VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                         VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
  device.rank = static_cast<int>(std::ranges::find(ranks, properties.deviceType) - ranks.begin());
  device.description =
      byre::format_text("%s, Vulkan %u.%u.%u", properties.deviceName, VK_API_VERSION_MAJOR(version),
                        VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version))
          .chars.data();
  if (version < VK_API_VERSION_1_3) {
    device.missing = ", Vulkan 1.3";
  } else {
    read_properties(device);
    read_queue_family(device);
    device.features.chain();
    vkGetPhysicalDeviceFeatures2(handle, &device.features.core);
    for (const NeededFeature& needed : needed_features) {
      device.missing +=
          needed.of(device.features) == VK_TRUE ? "" : std::string(", the feature ") + needed.name;
    }
    if (properties.limits.maxComputeWorkGroupInvocations < needed_invocations) {
      device.missing += ", 256 threads in a group";
    }
  }
  device.missing.erase(0, 2);
  return device;
}

std::string list(const std::vector<Candidate>& candidates) {
  std::string text;
  for (std::size_t i = 0; i != candidates.size(); ++i) {
    text += (i == 0 ? "" : "; ") + std::to_string(i) + ": " + candidates[i].description;
    text += candidates[i].missing.empty() ? "" : " (has not " + candidates[i].missing + ')';
  }
  return text;
}

}  // namespace

std::vector<Candidate> candidates_of(VkInstance instance) {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(instance, &count, handles.data()), "vkEnumeratePhysicalDevices");
  handles.resize(count);
  std::vector<Candidate> candidates;
  for (VkPhysicalDevice const handle : handles) {
    candidates.push_back(describe(handle));
  }
  return candidates;
}

std::size_t choose(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) {
    throw VulkanError(byre::format_text(
        "the Vulkan drivers of this machine have no device. On a machine without a card install a "
        "driver that "
        "computes on the processor (Debian, Ubuntu: apt-get install mesa-vulkan-drivers)."));
  }
  const char* const variable = std::getenv("BYRE_VULKAN_DEVICE");
  const std::string_view asked = variable == nullptr ? "" : variable;
  std::size_t index = 0;
  if (asked.empty()) {
    const auto best = std::ranges::min_element(candidates, {}, [](const Candidate& each) {
      return std::pair(!each.missing.empty(), each.rank);
    });
    index = static_cast<std::size_t>(best - candidates.begin());
  } else {
    const auto [stop, error] = std::from_chars(asked.begin(), asked.end(), index);
    if (error != std::errc() || stop != asked.end() || index >= candidates.size()) {
      throw VulkanError(byre::format_text(
          "BYRE_VULKAN_DEVICE=%s names no Vulkan device. Set the number of one of these: %s.",
          variable, list(candidates).c_str()));
    }
  }
  if (!candidates[index].missing.empty()) {
    throw VulkanError(byre::format_text("the Vulkan device %zu has not %s. There are: %s.", index,
                                        candidates[index].missing.c_str(),
                                        list(candidates).c_str()));
  }
  return index;
}

}  // namespace examples::vulkan
