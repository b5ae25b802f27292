// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/pipelines.hpp"

namespace examples::vulkan {

Pipelines::~Pipelines() {
  for (const auto& [shader, made] : all_) {
    vkDestroyPipeline(device_, made.pipeline, nullptr);
    vkDestroyPipelineLayout(device_, made.layout, nullptr);
    vkDestroyDescriptorSetLayout(device_, made.set_layout, nullptr);
  }
}

const Pipeline& Pipelines::get(const Shader& shader, std::uint32_t buffers) {
  const std::lock_guard lock(mutex_);
  Pipeline& made = all_[{shader.spirv.data(), shader.constants}];
  if (made.pipeline != VK_NULL_HANDLE) {
    return made;
  }
  // A call that failed before has left what it made: that is not made again.
  if (made.set_layout == VK_NULL_HANDLE) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (std::uint32_t i = 0; i != buffers; ++i) {
      bindings.push_back({.binding = i,
                          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                          .descriptorCount = 1,
                          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT});
    }
    const VkDescriptorSetLayoutCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = buffers,
        .pBindings = bindings.data()};
    check(vkCreateDescriptorSetLayout(device_, &info, nullptr, &made.set_layout),
          "vkCreateDescriptorSetLayout");
  }
  if (made.layout == VK_NULL_HANDLE) {
    const VkPipelineLayoutCreateInfo info{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &made.set_layout};
    check(vkCreatePipelineLayout(device_, &info, nullptr, &made.layout), "vkCreatePipelineLayout");
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
      .layout = made.layout};
  const VkResult result =
      vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made.pipeline);
  vkDestroyShaderModule(device_, module, nullptr);
  check(result, "vkCreateComputePipelines");
  return made;
}

}  // namespace examples::vulkan
