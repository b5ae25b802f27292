// SPDX-License-Identifier: BSL-1.0
/// What can go wrong with a Vulkan device, beside what byre's own errors say (byre::OutOfMemory, byre::InvalidArgument).
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

/// "VK_ERROR_DEVICE_LOST", or the number of one that has no name here.
byre::Text name_of(VkResult result) noexcept;

/// Throws VulkanError naming `call`, unless it succeeded; DeviceLost if that is why.
void check(VkResult result, const char* call);

}  // namespace examples::vulkan
