// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/errors.hpp"

namespace examples::vulkan {

byre::Text name_of(VkResult result) noexcept {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return byre::format_text("VK_ERROR_OUT_OF_HOST_MEMORY");
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return byre::format_text("VK_ERROR_OUT_OF_DEVICE_MEMORY");
    case VK_ERROR_INITIALIZATION_FAILED:
      return byre::format_text("VK_ERROR_INITIALIZATION_FAILED");
    case VK_ERROR_DEVICE_LOST:
      return byre::format_text("VK_ERROR_DEVICE_LOST");
    case VK_ERROR_LAYER_NOT_PRESENT:
      return byre::format_text("VK_ERROR_LAYER_NOT_PRESENT");
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return byre::format_text("VK_ERROR_EXTENSION_NOT_PRESENT");
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return byre::format_text("VK_ERROR_FEATURE_NOT_PRESENT");
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return byre::format_text("VK_ERROR_INCOMPATIBLE_DRIVER");
    case VK_ERROR_TOO_MANY_OBJECTS:
      return byre::format_text("VK_ERROR_TOO_MANY_OBJECTS");
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return byre::format_text("VK_ERROR_OUT_OF_POOL_MEMORY");
    default:
      return byre::format_text("VkResult %d", static_cast<int>(result));
  }
}

void check(VkResult result, const char* call) {
  if (result >= VK_SUCCESS) {
    return;
  }
  const byre::Text name = name_of(result);
  if (result == VK_ERROR_DEVICE_LOST) {
    throw DeviceLost(
        byre::format_text("%s: the Vulkan device was lost (%s). What was on it is gone, what is on "
                          "the host is as it was. Start the "
                          "program anew; if it happens again, the driver or the device has a "
                          "fault, or a shader runs too long.",
                          call, name.chars.data()));
  }
  throw VulkanError(byre::format_text("%s failed: %s.", call, name.chars.data()));
}

}  // namespace examples::vulkan
