// SPDX-License-Identifier: BSL-1.0
/// A compute shader, ready to be dispatched.
#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vulkan/device/driver.hpp"

namespace examples::vulkan {

class Gpu;

/// How a shader sees its arguments, all of set 0: storage buffers at bindings 0 to `buffers` - 1, then, if it takes
/// parameters, a read-only storage buffer (std430) with them at binding `buffers`; and push constants.
struct PipelineLayout {
  std::uint32_t buffers = 0;
  std::uint32_t push_constants_nbytes = 0;  ///< a multiple of 4, at most 128 on every device
  bool has_parameters = false;
};

/// Thread-safe. Destroying it waits for the dispatches that use it.
class Pipeline {
 public:
  /// `specialization[i]` is the constant of id i, a 32-bit scalar. The entry point is "main". Throws VulkanError.
  Pipeline(Gpu& gpu, std::span<const std::uint32_t> spirv, const PipelineLayout& layout,
           std::span<const std::uint32_t> specialization = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  const PipelineLayout& layout() const noexcept { return layout_; }

 private:
  friend class Queue;
  void destroy() noexcept;

  Gpu& gpu_;
  PipelineLayout layout_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  mutable std::atomic<std::uint64_t> last_use_{0};
};

}  // namespace examples::vulkan
