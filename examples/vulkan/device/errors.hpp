// SPDX-License-Identifier: BSL-1.0
/// Errors of a Vulkan device. Others are byre's own (byre::OutOfMemory, byre::InvalidArgument).
#pragma once

#include <vulkan/vulkan.h>

#include <byre/error/error.hpp>

namespace examples::vulkan {

/// No driver, a feature or a limit of the device that does not suffice, or a call that failed: the text says what was
/// asked, what was found and what to do.
class VulkanError : public byre::Error {
 public:
  using Error::Error;
};

/// The device is lost: what was on it is gone, what is on the host is as it was. All later calls throw it too.
class DeviceLost : public VulkanError {
 public:
  using VulkanError::VulkanError;
};

inline bool is_out_of_memory(VkResult result) noexcept {
  return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
         result == VK_ERROR_TOO_MANY_OBJECTS;
}

/// Throws VulkanError naming `call` unless it succeeded; DeviceLost if the device is lost.
inline void check(VkResult result, const char* call) {
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
    throw VulkanError(byre::format_text("%s failed: VkResult %d%s.", call, static_cast<int>(result),
                                        is_out_of_memory(result) ? " (out of memory)" : ""));
  }
}

}  // namespace examples::vulkan
