// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/errors.hpp"

#include <array>
#include <string>
#include <utility>

namespace examples::vulkan {
namespace {

std::string name_of(VkResult result) {
#define EXAMPLES_NAMED(name) \
  std::pair {                \
    name, #name              \
  }
  static constexpr std::array names{EXAMPLES_NAMED(VK_ERROR_OUT_OF_HOST_MEMORY),
                                    EXAMPLES_NAMED(VK_ERROR_OUT_OF_DEVICE_MEMORY),
                                    EXAMPLES_NAMED(VK_ERROR_INITIALIZATION_FAILED),
                                    EXAMPLES_NAMED(VK_ERROR_DEVICE_LOST),
                                    EXAMPLES_NAMED(VK_ERROR_LAYER_NOT_PRESENT),
                                    EXAMPLES_NAMED(VK_ERROR_EXTENSION_NOT_PRESENT),
                                    EXAMPLES_NAMED(VK_ERROR_FEATURE_NOT_PRESENT),
                                    EXAMPLES_NAMED(VK_ERROR_INCOMPATIBLE_DRIVER),
                                    EXAMPLES_NAMED(VK_ERROR_TOO_MANY_OBJECTS),
                                    EXAMPLES_NAMED(VK_ERROR_OUT_OF_POOL_MEMORY)};
#undef EXAMPLES_NAMED
  for (const auto& [value, name] : names) {
    if (value == result) {
      return name;
    }
  }
  return "VkResult " + std::to_string(result);
}

}  // namespace

void check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) {
    throw DeviceLost(
        byre::format_text("%s: the Vulkan device was lost (VK_ERROR_DEVICE_LOST). What was on it "
                          "is gone, what is on the host is as it "
                          "was. Start the program anew; if it happens again, the driver or the "
                          "device has a fault, or a shader runs "
                          "too long.",
                          call));
  }
  if (result < VK_SUCCESS) {
    throw VulkanError(byre::format_text("%s failed: %s.", call, name_of(result).c_str()));
  }
}

bool has_memory(VkResult result, const char* call) {
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS) {
    return false;
  }
  check(result, call);
  return true;
}

}  // namespace examples::vulkan
