// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/pipelines.hpp"

#include <array>

namespace examples::vulkan {

Pipelines::Pipelines(const Driver& driver) : device_(driver.device()) {
  std::array<VkDescriptorSetLayoutBinding, most_buffers> bindings{};
  for (std::uint32_t i = 0; i != most_buffers; ++i) {
    bindings[i] = {.binding = i,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .descriptorCount = 1,
                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = most_buffers,
      .pBindings = bindings.data()};
  check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
        "vkCreateDescriptorSetLayout");
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout_};
  const VkResult result = vkCreatePipelineLayout(device_, &layout, nullptr, &layout_);
  if (result != VK_SUCCESS) {
    vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
  }
  check(result, "vkCreatePipelineLayout");
}

Pipelines::~Pipelines() {
  for (const auto& [shader, pipeline] : all_) {
    vkDestroyPipeline(device_, pipeline, nullptr);
  }
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
}

VkPipeline Pipelines::get(const Shader& shader) {
  const std::lock_guard lock(mutex_);
  VkPipeline& made = all_[{shader.spirv.data(), shader.constants}];
  if (made != VK_NULL_HANDLE) {
    return made;
  }
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = shader.spirv.size_bytes(),
                                      .pCode = shader.spirv.data()};
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device_, &code, nullptr, &module), "vkCreateShaderModule");
  std::vector<VkSpecializationMapEntry> entries;
  for (std::uint32_t i = 0; i != shader.constants.size(); ++i) {
    entries.push_back({i, i * 4, 4});
  }
  const VkSpecializationInfo constants{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                       entries.size() * 4, shader.constants.data()};
  const VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &constants},
      .layout = layout_};
  const VkResult result =
      vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made);
  vkDestroyShaderModule(device_, module, nullptr);
  check(result, "vkCreateComputePipelines");
  return made;
}

}  // namespace examples::vulkan
