// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/commands.hpp"

#include <array>
#include <cstring>

namespace examples::vulkan {

Pipelines::Pipelines(const Driver& driver) : device_(driver.device) {
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
  set_layout_ = {device_, vkCreateDescriptorSetLayout, set, "vkCreateDescriptorSetLayout"};
  const VkDescriptorSetLayout set_layout = set_layout_;
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout};
  layout_ = {device_, vkCreatePipelineLayout, layout, "vkCreatePipelineLayout"};
}

VkPipeline Pipelines::get(const Shader& shader) {
  const std::lock_guard lock(mutex_);
  Pipeline& made = all_[{shader.spirv.data(), shader.constants}];
  if (made != VK_NULL_HANDLE) {
    return made;
  }
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = shader.spirv.size_bytes(),
                                      .pCode = shader.spirv.data()};
  const Owned<VkShaderModule, vkDestroyShaderModule> module(device_, vkCreateShaderModule, code,
                                                            "vkCreateShaderModule");
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
  const auto create = [](VkDevice device, auto one, auto host, VkPipeline* pipeline) {
    return vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, one, host, pipeline);
  };
  made = Pipeline(device_, create, info, "vkCreateComputePipelines");
  return made;
}

Commands::Commands(const Driver& driver) : driver_(driver) {
  const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                     .queueFamilyIndex = driver.queue_family};
  pool_ = {driver.device, vkCreateCommandPool, pool, "vkCreateCommandPool"};
  const VkCommandBufferAllocateInfo buffer{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = pool_,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
  check(vkAllocateCommandBuffers(driver.device, &buffer, &buffer_), "vkAllocateCommandBuffers");
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  most * Pipelines::most_buffers};
  const VkDescriptorPoolCreateInfo sets{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = most,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &size};
  set_pool_ = {driver.device, vkCreateDescriptorPool, sets, "vkCreateDescriptorPool"};
}

void Commands::begin() {
  const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  check(vkBeginCommandBuffer(buffer_, &info), "vkBeginCommandBuffer");
}

void Commands::reset() noexcept {
  // If this fails because memory is exhausted, begin() fails too, and throws.
  static_cast<void>(vkResetCommandPool(driver_.device, pool_, 0));
  vkResetDescriptorPool(driver_.device, set_pool_, 0);  // always succeeds
  chunks_used_ = 0;
  end_ = most_put;
  recorded = 0;
  kept_.clear();
}

VkDescriptorSet Commands::make_set(VkDescriptorSetLayout layout,
                                   std::span<const VkDescriptorBufferInfo> buffers) {
  const VkDescriptorSetAllocateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .descriptorPool = set_pool_,
                                         .descriptorSetCount = 1,
                                         .pSetLayouts = &layout};
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(driver_.device, &info, &set), "vkAllocateDescriptorSets");
  std::vector<VkWriteDescriptorSet> writes;
  for (const VkDescriptorBufferInfo& buffer : buffers) {
    writes.push_back({.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                      .dstSet = set,
                      .dstBinding = static_cast<std::uint32_t>(writes.size()),
                      .descriptorCount = 1,
                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                      .pBufferInfo = &buffer});
  }
  vkUpdateDescriptorSets(driver_.device, static_cast<std::uint32_t>(writes.size()), writes.data(),
                         0, nullptr);
  return set;
}

VkDescriptorBufferInfo Commands::put(std::span<const std::byte> bytes) {
  const std::size_t alignment = driver_.limits.minStorageBufferOffsetAlignment;
  std::size_t begin = (end_ + alignment - 1) / alignment * alignment;
  if (begin + bytes.size() > most_put) {
    if (chunks_used_ == chunks_.size()) {
      chunks_.push_back(std::make_unique<Chunk>(driver_, most_put, Chunk::of_host));
    }
    ++chunks_used_;
    begin = 0;
  }
  const Chunk& chunk = *chunks_[chunks_used_ - 1];
  std::memcpy(chunk.mapped + begin, bytes.data(), bytes.size());
  end_ = begin + bytes.size();
  return {chunk.buffer, begin, bytes.size()};
}

}  // namespace examples::vulkan
