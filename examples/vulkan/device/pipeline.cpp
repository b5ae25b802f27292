// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/pipeline.hpp"

#include <algorithm>
#include <vector>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {

Pipeline::Pipeline(Gpu& gpu, std::span<const std::uint32_t> spirv, std::uint32_t buffers,
                   std::span<const std::uint32_t> specialization)
    : gpu_(gpu), device_(gpu.driver().device()), buffers_(buffers) {
  const std::uint32_t most =
      std::min(Commands::most_buffers, gpu.driver().limits().maxPerStageDescriptorStorageBuffers) -
      1;
  if (buffers > most) {
    throw VulkanError(byre::format_text(
        "a pipeline takes %u storage buffers, and may have %u beside its parameters "
        "(maxPerStageDescriptorStorageBuffers, at most %u). Use several dispatches.",
        buffers, most, Commands::most_buffers));
  }
  try {
    make_layouts();
    make_pipeline(spirv, specialization);
  } catch (...) {
    destroy();
    throw;
  }
}

void Pipeline::make_layouts() {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (std::uint32_t i = 0; i <= buffers_; ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT});
  }
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = static_cast<std::uint32_t>(bindings.size()),
      .pBindings = bindings.data()};
  check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
        "vkCreateDescriptorSetLayout");
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout_};
  check(vkCreatePipelineLayout(device_, &layout, nullptr, &pipeline_layout_),
        "vkCreatePipelineLayout");
}

void Pipeline::make_pipeline(std::span<const std::uint32_t> spirv,
                             std::span<const std::uint32_t> specialization) {
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = spirv.size_bytes(),
                                      .pCode = spirv.data()};
  VkShaderModule shader = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device_, &code, nullptr, &shader), "vkCreateShaderModule");
  std::vector<VkSpecializationMapEntry> entries(specialization.size());
  for (std::uint32_t i = 0; i != entries.size(); ++i) {
    entries[i] = {i, i * 4, 4};
  }
  const VkSpecializationInfo constants{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                       specialization.size_bytes(), specialization.data()};
  const VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader,
                .pName = "main",
                .pSpecializationInfo = &constants},
      .layout = pipeline_layout_};
  const VkResult result =
      vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
  vkDestroyShaderModule(device_, shader, nullptr);
  check(result, "vkCreateComputePipelines");
}

Pipeline::~Pipeline() {
  try {
    gpu_.queue().wait(last_use_.load(std::memory_order_relaxed));
  } catch (const DeviceLost&) {
    // No dispatch uses it any more.
  } catch (const byre::Error&) {
    return;  // it may still be used: what the driver refused is submitted later
  }
  destroy();
}

void Pipeline::destroy() noexcept {
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, pipeline_layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
}

}  // namespace examples::vulkan
