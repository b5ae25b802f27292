// SPDX-License-Identifier: BSL-1.0
/// Compute shaders, ready to be dispatched.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "vulkan/device/driver.hpp"

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
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkDescriptorSetLayout set_layout() const noexcept { return set_layout_; }
  VkPipelineLayout layout() const noexcept { return layout_; }
  VkPipeline get(const Shader& shader);

 private:
  VkDevice device_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::map<std::pair<const std::uint32_t*, std::vector<std::uint32_t>>, VkPipeline> all_;
};

}  // namespace examples::vulkan
