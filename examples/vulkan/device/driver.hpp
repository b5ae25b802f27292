// SPDX-License-Identifier: BSL-1.0
/// The driver: the Vulkan instance, the device that was chosen, and what it can do.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {

/// What shaders may use. All that the device has is enabled; what Driver does not insist on may be missing.
struct Features {
  bool int8 = false;     ///< arithmetic; storage of 8 and 16 bits, and 16 and 64 bits of integer, are always there
  bool float16 = false;  ///< arithmetic
  bool float64 = false;
  bool int64_atomics = false;
};

/// Thread-safe. Never destroyed once made: it lives as long as Gpu.
class Driver {
 public:
  /// BYRE_VULKAN_DEVICE=n chooses the n-th device; without it the fastest sort that has what is needed is taken, a
  /// card before a processor. BYRE_VULKAN_VALIDATION=1 has the validation layer check each call, with synchronization
  /// validation. Throws VulkanError: no driver, no such device, a feature or a layer that is missing.
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
  const Features& features() const noexcept { return features_; }

  /// The most bytes of one allocation, and of one buffer.
  std::uint64_t max_nbytes() const noexcept { return max_nbytes_; }
  /// Bytes of the heap that blocks come from.
  std::uint64_t heap_nbytes() const noexcept { return heap_nbytes_; }
  /// The memory type of blocks, and of what the host fills or reads. Blocks that the host can map and reads through
  /// its caches need no copy on the way to it.
  std::uint32_t block_memory_type() const noexcept { return block_type_; }
  std::uint32_t host_memory_type() const noexcept { return host_type_; }
  bool maps_blocks() const noexcept { return maps_blocks_; }

  /// Messages of the validation layer so far; each is on stderr too.
  std::uint64_t validation_messages() const noexcept {
    return messages_.load(std::memory_order_relaxed);
  }
  bool validates() const noexcept { return messenger_ != VK_NULL_HANDLE; }

 private:
  struct Candidate;
  void create_instance();
  void choose_device();
  void create_device();
  void choose_memory_types();
  static VKAPI_ATTR VkBool32 VKAPI_CALL take_message(
      VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
      const VkDebugUtilsMessengerCallbackDataEXT* message, void* driver);
  void destroy() noexcept;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t queue_family_ = 0;
  std::uint16_t index_ = 0;
  std::string description_;
  VkPhysicalDeviceLimits limits_{};
  Features features_;
  std::uint64_t max_nbytes_ = 0;
  std::uint64_t heap_nbytes_ = 0;
  std::uint32_t block_type_ = 0;
  std::uint32_t host_type_ = 0;
  bool maps_blocks_ = false;
  std::atomic<std::uint64_t> messages_{0};
};

}  // namespace examples::vulkan
