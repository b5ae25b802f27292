// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/driver.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace examples::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

/// Whether an environment variable is neither empty nor 0.
bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

std::string description_of(const VkPhysicalDeviceProperties& device) {
  const std::uint32_t version = device.apiVersion;
  return byre::format_text("%s, Vulkan %u.%u.%u", device.deviceName, VK_API_VERSION_MAJOR(version),
                           VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version))
      .chars.data();
}

/// Returns the number in BYRE_VULKAN_DEVICE. If the variable is not set, returns the number of the
/// first graphics card, or 0 if there is no graphics card.
std::size_t choose(const std::vector<VkPhysicalDeviceProperties>& devices) {
  const auto is_card = [](const auto& device) {
    return device.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
  };
  const auto card = std::ranges::find_if(devices, is_card);
  std::size_t index = card == devices.end() ? 0 : static_cast<std::size_t>(card - devices.begin());
  const char* const variable = std::getenv("BYRE_VULKAN_DEVICE");
  const std::string_view asked = variable == nullptr ? "" : variable;
  if (!asked.empty()) {
    const auto [stop, error] = std::from_chars(asked.begin(), asked.end(), index);
    if (error != std::errc() || stop != asked.end() || index >= devices.size()) {
      std::string list;
      for (std::size_t i = 0; i != devices.size(); ++i) {
        list += (i == 0 ? "" : "; ") + std::to_string(i) + ": " + description_of(devices[i]);
      }
      throw VulkanError(byre::format_text(
          "BYRE_VULKAN_DEVICE=%s is not the number of a Vulkan device. Use one of these: %s.",
          variable, list.c_str()));
    }
  }
  return index;
}

/// Prints the message and increments `count`.
VKAPI_ATTR VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                            VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* message,
                                            void* count) {
  static_cast<std::atomic<std::uint64_t>*>(count)->fetch_add(1, std::memory_order_relaxed);
  std::fprintf(stderr, "%s\n", message->pMessage);
  return VK_FALSE;
}

template <class Function>
Function instance_function(VkInstance instance, const char* name) {
  return reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
}

}  // namespace

/// Delegates to another constructor, because then the destructor runs if this one throws.
Driver::Driver() : Driver(nullptr) {
  create_instance();
  choose_device();
  create_device();
  choose_memory_types();
}

Driver::~Driver() {
  if (device != VK_NULL_HANDLE) {
    vkDestroyDevice(device, nullptr);
  }
  if (messenger_ != VK_NULL_HANDLE) {
    instance_function<PFN_vkDestroyDebugUtilsMessengerEXT>(
        instance, "vkDestroyDebugUtilsMessengerEXT")(instance, messenger_, nullptr);
  }
  if (instance != VK_NULL_HANDLE) {
    vkDestroyInstance(instance, nullptr);
  }
}

void Driver::create_instance() {
  const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                      .pApplicationName = "byre example",
                                      .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                            .pApplicationInfo = &application};
  const std::array synchronization{VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT validation{.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                           .enabledValidationFeatureCount = synchronization.size(),
                                           .pEnabledValidationFeatures = synchronization.data()};
  const std::array extensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                              VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  const bool validates = is_set("BYRE_VULKAN_VALIDATION");
  if (validates) {
    info.pNext = &validation;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = extensions.size();
    info.ppEnabledExtensionNames = extensions.data();
  }
  const VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    throw VulkanError(byre::format_text(
        "no Vulkan driver was found (vkCreateInstance: VK_ERROR_INCOMPATIBLE_DRIVER). Install the "
        "driver of your graphics card, or a software driver (Debian, Ubuntu: apt-get install "
        "mesa-vulkan-drivers). If VK_ICD_FILENAMES or VK_DRIVER_FILES is set, set it to the "
        "driver's file."));
  }
  if (result == VK_ERROR_LAYER_NOT_PRESENT) {
    throw VulkanError(byre::format_text(
        "BYRE_VULKAN_VALIDATION is set, but %s is not installed. Install it (Debian, Ubuntu: "
        "apt-get install vulkan-validationlayers), or unset the variable.",
        validation_layer));
  }
  check(result, "vkCreateInstance");
  if (validates) {
    const VkDebugUtilsMessengerCreateInfoEXT messenger{
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = &take_message,
        .pUserData = &validation_messages};
    const auto create = instance_function<PFN_vkCreateDebugUtilsMessengerEXT>(
        instance, "vkCreateDebugUtilsMessengerEXT");
    check(create(instance, &messenger, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
  }
}

void Driver::choose_device() {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(instance, &count, handles.data()), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDeviceProperties> devices(count);
  for (std::size_t i = 0; i != count; ++i) {
    vkGetPhysicalDeviceProperties(handles[i], &devices[i]);
  }
  if (devices.empty()) {
    throw VulkanError(byre::format_text(
        "no Vulkan device was found. Install a software driver (Debian, Ubuntu: apt-get install "
        "mesa-vulkan-drivers)."));
  }
  const std::size_t chosen = choose(devices);
  physical = handles[chosen];
  index = static_cast<std::uint16_t>(chosen);
  description = description_of(devices[chosen]);
  limits = devices[chosen].limits;
  if (devices[chosen].apiVersion < VK_API_VERSION_1_3 ||
      limits.maxComputeWorkGroupInvocations < 256) {
    throw VulkanError(
        byre::format_text("cannot use %s with %u invocations in a work group, required Vulkan 1.3 "
                          "and 256 invocations. Select another device by BYRE_VULKAN_DEVICE=n.",
                          description.c_str(), limits.maxComputeWorkGroupInvocations));
  }
  VkPhysicalDeviceMaintenance4Properties maintenance4{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &maintenance4};
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &maintenance3};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  max_nbytes = std::min(maintenance3.maxMemoryAllocationSize, maintenance4.maxBufferSize);

  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  const auto computes = [](const VkQueueFamilyProperties& family) {
    return (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;  // such a family supports copies too
  };
  queue_family =
      static_cast<std::uint32_t>(std::ranges::find_if(families, computes) - families.begin());
}

void Driver::create_device() {
  VkPhysicalDeviceFeatures there{};
  vkGetPhysicalDeviceFeatures(physical, &there);
  has_float64 = there.shaderFloat64 == VK_TRUE;
  VkPhysicalDeviceVulkan13Features of_13{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
      .synchronization2 = VK_TRUE,
      .maintenance4 = VK_TRUE};  // for LocalSizeId, which glslang emits for Vulkan 1.3
  VkPhysicalDeviceVulkan12Features of_12{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .pNext = &of_13,
      .storageBuffer8BitAccess = VK_TRUE,
      .timelineSemaphore = VK_TRUE};
  VkPhysicalDeviceVulkan11Features of_11{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
      .pNext = &of_12,
      .storageBuffer16BitAccess = VK_TRUE};
  const VkPhysicalDeviceFeatures2 features{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
      .pNext = &of_11,
      .features = {
          .shaderFloat64 = there.shaderFloat64, .shaderInt64 = VK_TRUE, .shaderInt16 = VK_TRUE}};
  const float priority = 1;
  const VkDeviceQueueCreateInfo of_queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = queue_family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &features,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &of_queue};
  const VkResult result = vkCreateDevice(physical, &info, nullptr, &device);
  if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
    throw VulkanError(byre::format_text(
        "cannot use %s: it lacks at least one of the features timelineSemaphore, synchronization2, "
        "maintenance4, storageBuffer8BitAccess, storageBuffer16BitAccess, shaderInt16 and "
        "shaderInt64. Select another device by BYRE_VULKAN_DEVICE=n.",
        description.c_str()));
  }
  check(result, "vkCreateDevice");
  vkGetDeviceQueue(device, queue_family, 0, &queue);
}

VkBufferCreateInfo Driver::storage_buffer(std::size_t nbytes) noexcept {
  return {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
          .size = nbytes,
          .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                   VK_BUFFER_USAGE_TRANSFER_DST_BIT};
}

void Driver::choose_memory_types() {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  const VkBufferCreateInfo info = storage_buffer(4096);
  const VkDeviceBufferMemoryRequirements buffer{
      .sType = VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS, .pCreateInfo = &info};
  VkMemoryRequirements2 needs{.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  vkGetDeviceBufferMemoryRequirements(device, &buffer, &needs);
  const auto find = [&](VkMemoryPropertyFlags wanted) -> std::optional<std::uint32_t> {
    for (std::uint32_t type = 0; type != memory.memoryTypeCount; ++type) {
      if ((needs.memoryRequirements.memoryTypeBits >> type & 1) != 0 &&
          (memory.memoryTypes[type].propertyFlags & wanted) == wanted) {
        return type;
      }
    }
    return std::nullopt;
  };
  constexpr VkMemoryPropertyFlags seen_by_host =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = seen_by_host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  const auto of_blocks = find(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  const auto of_host = find(cached) ? find(cached) : find(seen_by_host);
  if (!of_blocks || !of_host) {
    throw VulkanError(byre::format_text(
        "cannot use %s: it lacks device-local or host-visible memory for storage buffers. Select "
        "another device by BYRE_VULKAN_DEVICE=n.",
        description.c_str()));
  }
  block_memory_type = *of_blocks;
  host_memory_type = *of_host;
  heap_nbytes = memory.memoryHeaps[memory.memoryTypes[block_memory_type].heapIndex].size;
  max_nbytes = std::min(max_nbytes, heap_nbytes);
}

}  // namespace examples::vulkan
