// SPDX-License-Identifier: BSL-1.0
/// A command buffer and what it needs until it has been executed: descriptor sets, parameters, and memory of the
/// host's that it copies from.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/device/blocks.hpp"
#include "vulkan/device/driver.hpp"

namespace examples::vulkan {

/// For one thread at a time.
class Commands {
 public:
  /// Throws VulkanError, byre::OutOfMemory.
  explicit Commands(const Driver& driver);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  VkCommandBuffer buffer() const noexcept { return buffer_; }

  /// Before the first command. Throws VulkanError.
  void begin();
  /// Once it has been executed, so that it can begin anew. Hands out the host's memory.
  std::vector<std::shared_ptr<Chunk>> reset() noexcept;

  /// Storage buffers to bind: a set of its own for each dispatch. Throws VulkanError.
  VkDescriptorSet make_set(VkDescriptorSetLayout layout,
                           std::span<const VkDescriptorBufferInfo> buffers);
  /// Copies the bytes, a multiple of 4, to where shaders read them. Throws byre::OutOfMemory.
  VkDescriptorBufferInfo put_parameters(std::span<const std::byte> parameters);

  /// Keeps memory of the host's until the commands have been executed.
  void keep(std::shared_ptr<Chunk> staging) { staging_.push_back(std::move(staging)); }

  /// Pools, of commands and of sets, and pieces of memory for parameters: what recording needs, and uses again.
  std::size_t allocations() const noexcept;

  std::uint64_t value = 0;  ///< of the timeline, after it
  unsigned recorded = 0;    ///< commands

 private:
  static constexpr std::uint32_t sets_in_pool = 64;
  static constexpr std::uint32_t buffers_in_pool = sets_in_pool * 8;
  static constexpr std::size_t parameters_nbytes = std::size_t{64} << 10;

  void add_pool();

  const Driver& driver_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  std::vector<VkDescriptorPool> set_pools_;
  std::size_t pools_used_ = 0;  // the last of these has room
  std::vector<std::unique_ptr<Chunk>> parameters_;
  std::size_t parameter_chunks_used_ = 0;
  std::size_t parameters_end_ = 0;  // in the last of these
  std::vector<std::shared_ptr<Chunk>> staging_;
};

}  // namespace examples::vulkan
