// SPDX-License-Identifier: BSL-1.0
/// Pipelines of shaders, and a command buffer together with the resources that its commands use
/// until they have been executed: host memory and descriptor sets.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/device/memory.hpp"

namespace examples::vulkan {

/// A shader has its arguments in set 0: storage buffers from binding 0 on, and its parameters in
/// the next binding, as a read-only storage buffer (std430). The entry point is "main".
struct Shader {
  std::span<const std::uint32_t> spirv;       ///< must live as long as the process
  std::vector<std::uint32_t> constants = {};  ///< 32-bit scalars, indexed by their id
};

/// Creates a pipeline for each shader and its constants at their first use. All pipelines have one
/// layout. Thread-safe.
class Pipelines {
 public:
  /// The largest number of buffers of a shader, including the buffer of its parameters.
  static constexpr std::uint32_t most_buffers = 5;

  /// The constructor and get() throw VulkanError.
  explicit Pipelines(const Driver& driver);

  VkDescriptorSetLayout set_layout() const noexcept { return set_layout_; }
  VkPipelineLayout layout() const noexcept { return layout_; }
  VkPipeline get(const Shader& shader);

 private:
  using Pipeline = Owned<VkPipeline, vkDestroyPipeline>;

  VkDevice device_;
  Owned<VkDescriptorSetLayout, vkDestroyDescriptorSetLayout> set_layout_;
  Owned<VkPipelineLayout, vkDestroyPipelineLayout> layout_;
  std::mutex mutex_;
  std::map<std::pair<const std::uint32_t*, std::vector<std::uint32_t>>, Pipeline> all_;
};

/// A command buffer and its resources. Not thread-safe.
class Commands {
 public:
  static constexpr std::uint32_t most = 64;            ///< largest number of commands
  static constexpr std::size_t most_put = 64UL << 10;  ///< largest size of put(), in bytes

  /// Throws VulkanError.
  explicit Commands(const Driver& driver);

  VkCommandBuffer buffer() const noexcept { return buffer_; }

  /// Must be called before the first command is recorded. Throws VulkanError.
  void begin();
  /// Makes the buffer ready for begin(). Requires that its commands have been executed.
  void reset() noexcept;

  /// Returns a new descriptor set with these storage buffers. Each dispatch needs its own. Throws
  /// VulkanError.
  VkDescriptorSet make_set(VkDescriptorSetLayout layout,
                           std::span<const VkDescriptorBufferInfo> buffers);
  /// Copies at most `most_put` bytes to memory that commands read. Throws byre::OutOfMemory.
  VkDescriptorBufferInfo put(std::span<const std::byte> bytes);
  /// Keeps host memory alive until the commands have been executed.
  void keep(std::shared_ptr<Chunk> chunk) { kept_.push_back(std::move(chunk)); }

  std::size_t allocations() const noexcept { return chunks_.size() + kept_.size(); }

  std::uint64_t value = 0;  ///< value of the timeline that the submission of this buffer signals
  unsigned recorded = 0;    ///< number of recorded commands

 private:
  const Driver& driver_;
  Owned<VkCommandPool, vkDestroyCommandPool> pool_;
  Owned<VkDescriptorPool, vkDestroyDescriptorPool> set_pool_;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // of most_put bytes each
  std::size_t chunks_used_ = 0;
  std::size_t end_ = most_put;  // end of the used bytes in the last chunk that is used
  std::vector<std::shared_ptr<Chunk>> kept_;
};

}  // namespace examples::vulkan
