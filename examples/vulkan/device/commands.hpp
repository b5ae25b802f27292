// SPDX-License-Identifier: BSL-1.0
/// Shaders as pipelines, and a command buffer with what its commands need until they have been executed: the memory
/// that its host fills or reads, and sets of descriptors.
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

/// A shader sees its arguments in set 0: storage buffers at bindings from 0 on, and its parameters at the binding that
/// follows, a read-only storage buffer (std430). The entry point is "main".
struct Shader {
  std::span<const std::uint32_t> spirv;       ///< lives as long as the process
  std::vector<std::uint32_t> constants = {};  ///< by id, each a 32-bit scalar
};

/// A pipeline for each shader and its constants, made at the first use; all have one layout. Thread-safe.
class Pipelines {
 public:
  static constexpr std::uint32_t most_buffers = 5;  ///< of a shader, parameters included

  /// Throws VulkanError, as get() does.
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

/// For one thread at a time.
class Commands {
 public:
  static constexpr std::uint32_t most = 64;            ///< commands
  static constexpr std::size_t most_put = 64UL << 10;  ///< bytes

  /// Throws VulkanError.
  explicit Commands(const Driver& driver);

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
  Owned<VkCommandPool, vkDestroyCommandPool> pool_;
  Owned<VkDescriptorPool, vkDestroyDescriptorPool> set_pool_;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // of most_put bytes
  std::size_t chunks_used_ = 0;
  std::size_t end_ = most_put;  // of the used bytes in the last of these
  std::vector<std::shared_ptr<Chunk>> kept_;
};

}  // namespace examples::vulkan
