// SPDX-License-Identifier: BSL-1.0
/// A compute shader, ready to be dispatched.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <span>

namespace examples::vulkan {

class Gpu;

/// Thread-safe. Destroying it waits for the dispatches that use it.
class Pipeline {
 public:
  /// The shader sees its arguments in set 0: storage buffers at bindings 0 to `buffers` - 1, and its parameters at
  /// binding `buffers`, a read-only storage buffer (std430). `specialization[i]` is the constant of id i, a 32-bit
  /// scalar. The entry point is "main". Throws VulkanError.
  Pipeline(Gpu& gpu, std::span<const std::uint32_t> spirv, std::uint32_t buffers,
           std::span<const std::uint32_t> specialization = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Without the parameters.
  std::uint32_t buffers() const noexcept { return buffers_; }

 private:
  friend class Queue;
  void make_layouts();
  void make_pipeline(std::span<const std::uint32_t> spirv,
                     std::span<const std::uint32_t> specialization);
  void destroy() noexcept;

  Gpu& gpu_;
  VkDevice device_;
  std::uint32_t buffers_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  mutable std::atomic<std::uint64_t> last_use_{0};
};

}  // namespace examples::vulkan
