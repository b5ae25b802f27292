// SPDX-License-Identifier: BSL-1.0
/// The driver: the Vulkan instance, the device that was chosen, and what it can do.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {

/// Thread-safe.
class Driver {
 public:
  /// BYRE_VULKAN_DEVICE=n chooses the n-th device, from 0; without it a card is taken before a processor.
  /// BYRE_VULKAN_VALIDATION=1 has the validation layer check each call, with synchronization validation.
  /// Throws VulkanError: no driver, no such device, a feature or a layer that is missing.
  Driver();
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  VkDevice device() const noexcept { return device_; }
  VkQueue queue() const noexcept { return queue_; }
  std::uint32_t queue_family() const noexcept { return queue_family_; }
  std::uint16_t index() const noexcept { return index_; }
  const std::string& description() const noexcept { return description_; }
  const VkPhysicalDeviceLimits& limits() const noexcept { return limits_; }
  /// Whether shaders may compute with f64. Storage of 8 and 16 bits and integers of 16 and 64 are always there.
  bool has_float64() const noexcept { return has_float64_; }

  /// The most bytes of one allocation, and of one buffer; those of the heap that blocks come from.
  std::uint64_t max_nbytes() const noexcept { return max_nbytes_; }
  std::uint64_t heap_nbytes() const noexcept { return heap_nbytes_; }
  /// The memory type of blocks, and of what the host fills or reads.
  std::uint32_t block_memory_type() const noexcept { return block_type_; }
  std::uint32_t host_memory_type() const noexcept { return host_type_; }
  /// What each buffer is made by.
  static VkBufferCreateInfo storage_buffer(std::size_t nbytes) noexcept;

  /// Messages of the validation layer so far; each is on stderr too.
  std::uint64_t validation_messages() const noexcept {
    return messages_.load(std::memory_order_relaxed);
  }

 private:
  void create_instance();
  void choose_device();
  void create_device();
  void choose_memory_types();
  void destroy() noexcept;
  static VKAPI_ATTR VkBool32 VKAPI_CALL take_message(
      VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
      const VkDebugUtilsMessengerCallbackDataEXT* message, void* driver);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t queue_family_ = 0;
  std::uint16_t index_ = 0;
  std::string description_;
  VkPhysicalDeviceLimits limits_{};
  bool has_float64_ = false;
  std::uint64_t max_nbytes_ = 0;
  std::uint64_t heap_nbytes_ = 0;
  std::uint32_t block_type_ = 0;
  std::uint32_t host_type_ = 0;
  std::atomic<std::uint64_t> messages_{0};
};

}  // namespace examples::vulkan
