// SPDX-License-Identifier: BSL-1.0
/// Errors of a Vulkan device, which come with byre's own (byre::OutOfMemory, byre::InvalidArgument), and owners of
/// objects that the device made.
#pragma once

#include <vulkan/vulkan.h>

#include <byre/error/error.hpp>
#include <utility>

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

/// A call failed for want of memory.
class NoMemory : public VulkanError {
 public:
  using VulkanError::VulkanError;
};

/// Throws VulkanError naming `call` unless it succeeded; DeviceLost if the device is lost, NoMemory.
inline void check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) {
    throw DeviceLost(byre::format_text(
        "%s: the Vulkan device was lost (VK_ERROR_DEVICE_LOST). What was on it is gone, what is on "
        "the host is as it was. Start the program anew; if it happens again, the driver or the "
        "device has a fault, or a shader runs too long.",
        call));
  }
  const int number = result;
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS) {
    throw NoMemory(byre::format_text("%s failed: VkResult %d (out of memory).", call, number));
  }
  if (result < VK_SUCCESS) {
    throw VulkanError(byre::format_text("%s failed: VkResult %d.", call, number));
  }
}

/// An object that a device made; it is destroyed with its owner.
template <class Object, auto destroy>
class Owned {
 public:
  Owned() = default;
  /// Calls create(device, &info, nullptr, &object). Throws as check() does.
  template <class Create, class Info>
  Owned(VkDevice device, Create create, const Info& info, const char* call) : device_(device) {
    check(create(device, &info, nullptr, &object_), call);
  }
  ~Owned() {
    if (object_ != VK_NULL_HANDLE) {
      destroy(device_, object_, nullptr);
    }
  }
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(object_, other.object_);
    return *this;
  }
  operator Object() const noexcept { return object_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Object object_ = VK_NULL_HANDLE;
};

}  // namespace examples::vulkan
