// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/driver.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "vulkan/device/physical_device.hpp"

namespace examples::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

/// Of a variable of the environment: not 0, and not empty.
bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

void expect_validation_layer() {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
  std::vector<VkLayerProperties> layers(count);
  check(vkEnumerateInstanceLayerProperties(&count, layers.data()),
        "vkEnumerateInstanceLayerProperties");
  if (std::none_of(layers.begin(), layers.end(), [](const VkLayerProperties& layer) {
        return std::strcmp(layer.layerName, validation_layer) == 0;
      })) {
    throw VulkanError(
        byre::format_text("BYRE_VULKAN_VALIDATION is set, and %s is not installed. Install it "
                          "(Debian, Ubuntu: apt-get install "
                          "vulkan-validationlayers), or unset the variable.",
                          validation_layer));
  }
}

template <class Function>
Function instance_function(VkInstance instance, const char* name) {
  return reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
}

std::optional<std::uint32_t> find_type(const VkPhysicalDeviceMemoryProperties& memory,
                                       std::uint32_t allowed, VkMemoryPropertyFlags wanted) {
  for (std::uint32_t i = 0; i != memory.memoryTypeCount; ++i) {
    if ((allowed >> i & 1) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
      return i;
    }
  }
  return std::nullopt;
}

constexpr VkMemoryPropertyFlags seen_by_host =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

}  // namespace

Driver::Driver() {
  try {
    create();
  } catch (...) {
    destroy();
    throw;
  }
}

Driver::~Driver() {
  destroy();
}

void Driver::create() {
  create_instance();
  choose_device();
  create_device();
  choose_memory_types();
}

void Driver::destroy() noexcept {
  if (device_ != VK_NULL_HANDLE) {
    vkDestroyDevice(device_, nullptr);
  }
  if (messenger_ != VK_NULL_HANDLE) {
    instance_function<PFN_vkDestroyDebugUtilsMessengerEXT>(
        instance_, "vkDestroyDebugUtilsMessengerEXT")(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) {
    vkDestroyInstance(instance_, nullptr);
  }
}

void Driver::create_instance() {
  std::uint32_t version = 0;
  check(vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion");
  if (version < VK_API_VERSION_1_3) {
    throw VulkanError(byre::format_text(
        "the Vulkan loader is of version %u.%u, and 1.3 is needed: install a newer one "
        "(Debian, Ubuntu: libvulkan1).",
        VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version)));
  }
  const bool validates = is_set("BYRE_VULKAN_VALIDATION");
  if (validates) {
    expect_validation_layer();
  }
  const std::array synchronization{VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT validation{.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                           .pNext = nullptr,
                                           .enabledValidationFeatureCount = synchronization.size(),
                                           .pEnabledValidationFeatures = synchronization.data(),
                                           .disabledValidationFeatureCount = 0,
                                           .pDisabledValidationFeatures = nullptr};
  const std::array extensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                              VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "byre example";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validates) {
    info.pNext = &validation;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = extensions.size();
    info.ppEnabledExtensionNames = extensions.data();
  }
  const VkResult result = vkCreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    throw VulkanError(
        byre::format_text("no Vulkan driver was found (vkCreateInstance: %s). Install that of the "
                          "card, or one that computes on the "
                          "processor (Debian, Ubuntu: apt-get install mesa-vulkan-drivers); where "
                          "VK_ICD_FILENAMES or VK_DRIVER_FILES "
                          "is set, it has to name the driver's file.",
                          name_of(result).chars.data()));
  }
  check(result, "vkCreateInstance");
  if (validates) {
    VkDebugUtilsMessengerCreateInfoEXT messenger{};
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = &take_message;
    messenger.pUserData = this;
    check(instance_function<PFN_vkCreateDebugUtilsMessengerEXT>(
              instance_, "vkCreateDebugUtilsMessengerEXT")(instance_, &messenger, nullptr,
                                                           &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
  }
}

VKAPI_ATTR VkBool32 VKAPI_CALL
Driver::take_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                     const VkDebugUtilsMessengerCallbackDataEXT* message, void* driver) {
  static_cast<Driver*>(driver)->messages_.fetch_add(1, std::memory_order_relaxed);
  std::fprintf(stderr, "%s\n", message->pMessage);
  return VK_FALSE;
}

void Driver::choose_device() {
  const std::vector<PhysicalDevice> devices = physical_devices(instance_);
  const std::uint32_t index = choose(devices);
  const PhysicalDevice& chosen = devices[index];
  index_ = static_cast<std::uint16_t>(index);
  physical_ = chosen.handle;
  description_ = chosen.description;
  limits_ = chosen.limits;
  max_nbytes_ = chosen.max_nbytes;
  queue_family_ = *chosen.queue_family;
  features_ = {chosen.has_int8, chosen.has_float16, chosen.has_float64};
}

void Driver::create_device() {
  VkPhysicalDeviceVulkan13Features of_13{};
  of_13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  of_13.synchronization2 = VK_TRUE;
  of_13.maintenance4 = VK_TRUE;  // sizes of work groups by LocalSizeId, as glslang makes for 1.3
  VkPhysicalDeviceVulkan12Features of_12{};
  of_12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  of_12.pNext = &of_13;
  of_12.timelineSemaphore = VK_TRUE;
  of_12.storageBuffer8BitAccess = VK_TRUE;
  of_12.shaderInt8 = features_.int8 ? VK_TRUE : VK_FALSE;
  of_12.shaderFloat16 = features_.float16 ? VK_TRUE : VK_FALSE;
  VkPhysicalDeviceVulkan11Features of_11{};
  of_11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  of_11.pNext = &of_12;
  of_11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &of_11;
  features.features.shaderInt16 = VK_TRUE;
  features.features.shaderInt64 = VK_TRUE;
  features.features.shaderFloat64 = features_.float64 ? VK_TRUE : VK_FALSE;
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
}

void Driver::choose_memory_types() {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = 4096;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer probe = VK_NULL_HANDLE;
  check(vkCreateBuffer(device_, &info, nullptr, &probe), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device_, probe, &needs);
  vkDestroyBuffer(device_, probe, nullptr);

  const auto find = [&](VkMemoryPropertyFlags wanted) {
    return find_type(memory, needs.memoryTypeBits, wanted);
  };
  const auto mapped =
      find(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | seen_by_host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  maps_blocks_ = mapped.has_value() && !is_set("BYRE_VULKAN_STAGING");
  const auto local = maps_blocks_ ? mapped : find(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  auto host = find(seen_by_host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  if (!host) {
    host = find(seen_by_host);
  }
  if (!local || !host) {
    throw VulkanError(byre::format_text(
        "%s has no memory that storage buffers can be in, of its own or that the host addresses.",
        description_.c_str()));
  }
  block_type_ = *local;
  host_type_ = *host;
  heap_nbytes_ = memory.memoryHeaps[memory.memoryTypes[block_type_].heapIndex].size;
  max_nbytes_ = std::min(max_nbytes_, heap_nbytes_);
}

}  // namespace examples::vulkan
