// SPDX-License-Identifier: BSL-1.0
/// A command buffer and what it needs until it has been executed: descriptor sets, and memory of the host's that it
/// reads.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/device/memory.hpp"

namespace examples::vulkan {

/// For one thread at a time.
class Commands {
 public:
  static constexpr std::uint32_t most = 64;            ///< commands
  static constexpr std::size_t most_put = 64UL << 10;  ///< bytes

  /// Throws VulkanError.
  explicit Commands(const Driver& driver);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  VkCommandBuffer buffer() const noexcept { return buffer_; }

  /// Before the first command. Throws VulkanError.
  void begin();
  /// Once it has been executed, so that it can begin anew.
  void reset() noexcept;

  /// Storage buffers to bind: a set of its own for each dispatch. Throws VulkanError.
  VkDescriptorSet make_set(VkDescriptorSetLayout layout,
                           std::span<const VkDescriptorBufferInfo> buffers);
  /// Copies the bytes, at most `most_put`, to where commands read them. Throws byre::OutOfMemory.
  VkDescriptorBufferInfo put(std::span<const std::byte> bytes);
  /// Keeps memory of the host's until the commands have been executed.
  void keep(std::shared_ptr<Chunk> chunk) { kept_.push_back(std::move(chunk)); }

  std::size_t allocations() const noexcept { return chunks_.size() + kept_.size(); }

  std::uint64_t value = 0;  ///< of the timeline, after it
  unsigned recorded = 0;    ///< commands

 private:
  const Driver& driver_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkDescriptorPool set_pool_ = VK_NULL_HANDLE;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // of most_put bytes
  std::size_t chunks_used_ = 0;
  std::size_t end_ = most_put;  // of the used bytes in the last of these
  std::vector<std::shared_ptr<Chunk>> kept_;
};

}  // namespace examples::vulkan
