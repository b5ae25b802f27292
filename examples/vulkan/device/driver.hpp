// SPDX-License-Identifier: BSL-1.0
/// The driver: the Vulkan instance, the device that was chosen, and what it can do.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {

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
