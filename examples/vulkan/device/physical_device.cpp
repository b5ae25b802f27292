// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/physical_device.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {
namespace {

std::string version_text(std::uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + '.' +
         std::to_string(VK_API_VERSION_MINOR(version)) + '.' +
         std::to_string(VK_API_VERSION_PATCH(version));
}

std::optional<std::uint32_t> computing_family(VkPhysicalDevice handle) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  for (std::uint32_t i = 0; i != count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {  // which copies too
      return i;
    }
  }
  return std::nullopt;
}

void read_properties(PhysicalDevice& device) {
  VkPhysicalDeviceMaintenance4Properties maintenance4{};
  maintenance4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES;
  VkPhysicalDeviceMaintenance3Properties maintenance3{};
  maintenance3.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  maintenance3.pNext = &maintenance4;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = &maintenance3;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &driver;
  vkGetPhysicalDeviceProperties2(device.handle, &properties);
  device.limits = properties.properties.limits;
  device.type = properties.properties.deviceType;
  device.max_nbytes = std::min(maintenance3.maxMemoryAllocationSize, maintenance4.maxBufferSize);
  device.description = std::string(properties.properties.deviceName) + ", Vulkan " +
                       version_text(properties.properties.apiVersion) + ", " + driver.driverName +
                       ' ' + driver.driverInfo;
}

/// Of a group of the operators' shaders; Vulkan promises 128.
constexpr std::uint32_t needed_invocations = 256;

void read_features(PhysicalDevice& device) {
  VkPhysicalDeviceVulkan13Features of_13{};
  of_13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features of_12{};
  of_12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  of_12.pNext = &of_13;
  VkPhysicalDeviceVulkan11Features of_11{};
  of_11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  of_11.pNext = &of_12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &of_11;
  vkGetPhysicalDeviceFeatures2(device.handle, &features);
  device.has_int8 = of_12.shaderInt8 == VK_TRUE;
  device.has_float16 = of_12.shaderFloat16 == VK_TRUE;
  device.has_float64 = features.features.shaderFloat64 == VK_TRUE;
  const std::array<std::pair<VkBool32, const char*>, 7> needed{{
      {of_12.timelineSemaphore, "timelineSemaphore"},
      {of_13.synchronization2, "synchronization2"},
      {of_13.maintenance4, "maintenance4"},
      {of_12.storageBuffer8BitAccess, "storageBuffer8BitAccess"},
      {of_11.storageBuffer16BitAccess, "storageBuffer16BitAccess"},
      {features.features.shaderInt16, "shaderInt16"},
      {features.features.shaderInt64, "shaderInt64"},
  }};
  for (const auto& [is_there, name] : needed) {
    if (is_there != VK_TRUE) {
      device.missing += (device.missing.empty() ? "the feature " : ", ") + std::string(name);
    }
  }
}

PhysicalDevice describe(VkPhysicalDevice handle) {
  PhysicalDevice device;
  device.handle = handle;
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(handle, &properties);
  device.description =
      std::string(properties.deviceName) + ", Vulkan " + version_text(properties.apiVersion);
  if (properties.apiVersion < VK_API_VERSION_1_3) {
    device.missing = "Vulkan 1.3";
    return device;
  }
  read_properties(device);
  read_features(device);
  if (properties.limits.maxComputeWorkGroupInvocations < needed_invocations) {
    device.missing += (device.missing.empty() ? "" : ", ") + std::string("256 threads in a group");
  }
  device.queue_family = computing_family(handle);
  if (!device.queue_family) {
    device.missing = "a queue that computes";
  }
  return device;
}

/// The less the better.
int rank(const PhysicalDevice& device) {
  switch (device.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
  }
}

std::string list(const std::vector<PhysicalDevice>& devices) {
  std::string text;
  for (std::size_t i = 0; i != devices.size(); ++i) {
    text += (i == 0 ? "" : "; ") + std::to_string(i) + ": " + devices[i].description;
    if (!devices[i].missing.empty()) {
      text += " (has not " + devices[i].missing + ')';
    }
  }
  return text;
}

}  // namespace

std::vector<PhysicalDevice> physical_devices(VkInstance instance) {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(instance, &count, handles.data()), "vkEnumeratePhysicalDevices");
  handles.resize(count);
  std::vector<PhysicalDevice> devices;
  for (VkPhysicalDevice const handle : handles) {
    devices.push_back(describe(handle));
  }
  return devices;
}

std::uint32_t choose(const std::vector<PhysicalDevice>& devices) {
  if (devices.empty()) {
    throw VulkanError(byre::format_text(
        "the Vulkan drivers of this machine have no device. On a machine without a card install a "
        "driver that "
        "computes on the processor (Debian, Ubuntu: apt-get install mesa-vulkan-drivers)."));
  }
  const char* const asked = std::getenv("BYRE_VULKAN_DEVICE");
  if (asked != nullptr && *asked != '\0') {
    std::uint32_t index = 0;
    const char* const end = asked + std::strlen(asked);
    const auto [stop, error] = std::from_chars(asked, end, index);
    if (error != std::errc() || stop != end || index >= devices.size()) {
      throw VulkanError(byre::format_text(
          "BYRE_VULKAN_DEVICE=%s names no Vulkan device. Set the number of one of these: %s.",
          asked, list(devices).c_str()));
    }
    if (!devices[index].missing.empty()) {
      throw VulkanError(byre::format_text(
          "the Vulkan device that BYRE_VULKAN_DEVICE=%s names has not %s. There are: %s.", asked,
          devices[index].missing.c_str(), list(devices).c_str()));
    }
    return index;
  }
  const auto best =
      std::min_element(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
        return std::pair(!a.missing.empty(), rank(a)) < std::pair(!b.missing.empty(), rank(b));
      });
  if (!best->missing.empty()) {
    throw VulkanError(
        byre::format_text("no Vulkan device has what is needed: %s.", list(devices).c_str()));
  }
  return static_cast<std::uint32_t>(best - devices.begin());
}

}  // namespace examples::vulkan
