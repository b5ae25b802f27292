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

struct Pipeline {
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
};

/// A pipeline for each shader and its constants, made at the first use. Thread-safe.
class Pipelines {
 public:
  explicit Pipelines(const Driver& driver) noexcept : device_(driver.device()) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// For so many buffers, parameters included. Throws VulkanError.
  const Pipeline& get(const Shader& shader, std::uint32_t buffers);

 private:
  VkDevice device_;
  std::mutex mutex_;
  std::map<std::pair<const std::uint32_t*, std::vector<std::uint32_t>>, Pipeline> all_;
};

}  // namespace examples::vulkan
