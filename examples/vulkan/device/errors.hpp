// SPDX-License-Identifier: BSL-1.0
/// Errors of a Vulkan device, beside byre's own (byre::OutOfMemory, byre::InvalidArgument).
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

/// Throws VulkanError naming `call` unless it succeeded; DeviceLost if the device is lost.
void check(VkResult result, const char* call);

/// False if there is no memory; throws as check() for any other error.
bool has_memory(VkResult result, const char* call);

}  // namespace examples::vulkan
