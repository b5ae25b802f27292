// SPDX-License-Identifier: BSL-1.0
/// The driver: the Vulkan instance, the device that was chosen, and what it can do. Errors of a Vulkan device, which
/// come with byre's own (byre::OutOfMemory, byre::InvalidArgument), and owners of objects that the device made.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <byre/error/error.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
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

/// The constructor sets what it has, and nothing changes it later but the count of messages.
class Driver {
 public:
  /// BYRE_VULKAN_DEVICE=n chooses the n-th device, from 0; without it a card is taken before a processor.
  /// BYRE_VULKAN_VALIDATION=1 has the validation layer check each call, with synchronization validation.
  /// Throws VulkanError: no driver, no such device, a feature or a layer that is missing.
  Driver();
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Buffers of either memory type are made by this.
  static VkBufferCreateInfo storage_buffer(std::size_t nbytes) noexcept;

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;
  std::uint16_t index = 0;  ///< among the devices
  std::string description;  ///< "llvmpipe (LLVM 15.0.6, 256 bits), Vulkan 1.3.230"
  VkPhysicalDeviceLimits limits{};
  /// Whether shaders may compute with f64. Storage of 8 and 16 bits and integers of 16 and 64 are always there.
  bool has_float64 = false;
  std::uint64_t max_nbytes = 0;   ///< of one allocation, and of one buffer
  std::uint64_t heap_nbytes = 0;  ///< of the heap that blocks come from
  std::uint32_t block_memory_type = 0;
  std::uint32_t host_memory_type = 0;  ///< of memory that the host fills or reads
  /// Messages of the validation layer so far; each is on stderr too.
  std::atomic<std::uint64_t> validation_messages{0};

 private:
  explicit Driver(std::nullptr_t) noexcept {}
  void create_instance();
  void choose_device();
  void create_device();
  void choose_memory_types();

  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace examples::vulkan
