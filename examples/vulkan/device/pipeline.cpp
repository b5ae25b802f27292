// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/pipeline.hpp"

#include <byre/error/error.hpp>
#include <vector>

#include "vulkan/device/gpu.hpp"

namespace examples::vulkan {
namespace {

VkDescriptorSetLayout make_set_layout(VkDevice device, const PipelineLayout& layout) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (std::uint32_t i = 0; i != layout.buffers + (layout.has_parameters ? 1 : 0); ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                        .pImmutableSamplers = nullptr});
  }
  const VkDescriptorSetLayoutCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .bindingCount = static_cast<std::uint32_t>(bindings.size()),
      .pBindings = bindings.data()};
  VkDescriptorSetLayout made = VK_NULL_HANDLE;
  check(vkCreateDescriptorSetLayout(device, &info, nullptr, &made), "vkCreateDescriptorSetLayout");
  return made;
}

VkPipelineLayout make_pipeline_layout(VkDevice device, VkDescriptorSetLayout set,
                                      std::uint32_t push_constants_nbytes) {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_constants_nbytes};
  const VkPipelineLayoutCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .setLayoutCount = 1,
      .pSetLayouts = &set,
      .pushConstantRangeCount = push_constants_nbytes == 0 ? 0U : 1U,
      .pPushConstantRanges = &range};
  VkPipelineLayout made = VK_NULL_HANDLE;
  check(vkCreatePipelineLayout(device, &info, nullptr, &made), "vkCreatePipelineLayout");
  return made;
}

VkPipeline make_pipeline(VkDevice device, VkPipelineLayout layout,
                         std::span<const std::uint32_t> spirv,
                         std::span<const std::uint32_t> specialization) {
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .codeSize = spirv.size_bytes(),
                                      .pCode = spirv.data()};
  VkShaderModule shader = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device, &code, nullptr, &shader), "vkCreateShaderModule");
  std::vector<VkSpecializationMapEntry> entries(specialization.size());
  for (std::uint32_t i = 0; i != entries.size(); ++i) {
    entries[i] = {i, i * 4, 4};
  }
  const VkSpecializationInfo constants{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                       specialization.size_bytes(), specialization.data()};
  const VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = nullptr,
                .flags = 0,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader,
                .pName = "main",
                .pSpecializationInfo = &constants},
      .layout = layout,
      .basePipelineHandle = VK_NULL_HANDLE,
      .basePipelineIndex = 0};
  VkPipeline made = VK_NULL_HANDLE;
  const VkResult result =
      vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &made);
  vkDestroyShaderModule(device, shader, nullptr);
  check(result, "vkCreateComputePipelines");
  return made;
}

}  // namespace

Pipeline::Pipeline(Gpu& gpu, std::span<const std::uint32_t> spirv, const PipelineLayout& layout,
                   std::span<const std::uint32_t> specialization)
    : gpu_(gpu), layout_(layout) {
  const VkPhysicalDeviceLimits& limits = gpu.limits();
  const std::uint32_t buffers = layout.buffers + (layout.has_parameters ? 1 : 0);
  if (layout.push_constants_nbytes > limits.maxPushConstantsSize ||
      layout.push_constants_nbytes % 4 != 0) {
    throw VulkanError(
        byre::format_text("a pipeline takes %u bytes of push constants; the device has %u "
                          "(maxPushConstantsSize), and they are a "
                          "multiple of 4. Pass them as parameters.",
                          layout.push_constants_nbytes, limits.maxPushConstantsSize));
  }
  if (buffers > limits.maxPerStageDescriptorStorageBuffers) {
    throw VulkanError(
        byre::format_text("a pipeline takes %u storage buffers; the device has %u "
                          "(maxPerStageDescriptorStorageBuffers). Use several "
                          "dispatches.",
                          buffers, limits.maxPerStageDescriptorStorageBuffers));
  }
  try {
    const VkDevice device = gpu.driver().device();
    set_layout_ = make_set_layout(device, layout_);
    pipeline_layout_ = make_pipeline_layout(device, set_layout_, layout_.push_constants_nbytes);
    pipeline_ = make_pipeline(device, pipeline_layout_, spirv, specialization);
  } catch (...) {
    destroy();
    throw;
  }
}

Pipeline::~Pipeline() {
  try {
    gpu_.queue().wait(last_use_.load(std::memory_order_relaxed));
  } catch (const DeviceLost&) {
    // It uses nothing any more.
  } catch (const byre::Error&) {
    return;  // it may still be used: what the driver refused is submitted later
  }
  destroy();
}

void Pipeline::destroy() noexcept {
  const VkDevice device = gpu_.driver().device();
  vkDestroyPipeline(device, pipeline_, nullptr);
  vkDestroyPipelineLayout(device, pipeline_layout_, nullptr);
  vkDestroyDescriptorSetLayout(device, set_layout_, nullptr);
}

}  // namespace examples::vulkan
