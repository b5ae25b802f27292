// SPDX-License-Identifier: BSL-1.0
/// The Vulkan instance, the chosen device and its capabilities. Also the errors of a Vulkan device,
/// which the example throws in addition to byre::OutOfMemory and byre::InvalidArgument, and owners
/// of Vulkan objects.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <byre/error/error.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace examples::vulkan {

/// No driver was found, the device lacks a feature, a limit of the device is too small, or a call
/// failed.
class VulkanError : public byre::Error {
 public:
  using Error::Error;
};

/// The device is lost, and so are its contents; the host's memory is unchanged. All later calls
/// throw this error too.
class DeviceLost : public VulkanError {
 public:
  using VulkanError::VulkanError;
};

/// A call failed because memory is exhausted.
class NoMemory : public VulkanError {
 public:
  using VulkanError::VulkanError;
};

/// Unless `result` is a success, throws an error that names `call`: DeviceLost, NoMemory, or else
/// VulkanError.
inline void check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) {
    throw DeviceLost(byre::format_text(
        "%s: the Vulkan device was lost (VK_ERROR_DEVICE_LOST). Its contents are lost, the host's "
        "memory is unchanged. Restart the program. If this happens again, the driver or the device "
        "is faulty, or a shader runs too long.",
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

/// Owns a Vulkan object and destroys it.
template <class Object, auto destroy>
class Owned {
 public:
  Owned() = default;
  /// Calls create(device, &info, nullptr, &object). Throws the errors of check().
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

/// The constructor sets all members. Later only the number of messages changes.
class Driver {
 public:
  /// BYRE_VULKAN_DEVICE=n selects device n, counted from 0. Without this variable, the first
  /// graphics card is selected, or device 0 if there is no graphics card. With
  /// BYRE_VULKAN_VALIDATION=1, the validation layer checks each call, including synchronization.
  /// Throws VulkanError if the driver, the device, a feature or the layer is missing.
  Driver();
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// The settings of a buffer of `nbytes` bytes, for either memory type.
  static VkBufferCreateInfo storage_buffer(std::size_t nbytes) noexcept;

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;
  std::uint16_t index = 0;  ///< the number of the device
  std::string description;  ///< "llvmpipe (LLVM 15.0.6, 256 bits), Vulkan 1.3.230"
  VkPhysicalDeviceLimits limits{};
  /// Whether shaders support f64. 8-bit and 16-bit storage and 16-bit and 64-bit integers are
  /// always supported.
  bool has_float64 = false;
  std::uint64_t max_nbytes = 0;   ///< largest size of an allocation and of a buffer
  std::uint64_t heap_nbytes = 0;  ///< size of the heap of blocks
  std::uint32_t block_memory_type = 0;
  std::uint32_t host_memory_type = 0;  ///< of memory that the host writes or reads
  /// Number of messages of the validation layer so far. Each is also written to stderr.
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
