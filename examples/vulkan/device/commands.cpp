// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/commands.hpp"

#include <byre/error/error.hpp>
#include <cstring>

#include "vulkan/device/errors.hpp"
#include "vulkan/device/pipelines.hpp"

namespace examples::vulkan {

Commands::Commands(const Driver& driver) : driver_(driver) {
  VkDevice const device = driver.device();
  const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                     .queueFamilyIndex = driver.queue_family()};
  check(vkCreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo buffer{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = pool_,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  most * Pipelines::most_buffers};
  const VkDescriptorPoolCreateInfo sets{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = most,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &size};
  try {
    check(vkAllocateCommandBuffers(device, &buffer, &buffer_), "vkAllocateCommandBuffers");
    check(vkCreateDescriptorPool(device, &sets, nullptr, &set_pool_), "vkCreateDescriptorPool");
  } catch (...) {
    vkDestroyCommandPool(device, pool_, nullptr);
    throw;
  }
}

Commands::~Commands() {
  vkDestroyDescriptorPool(driver_.device(), set_pool_, nullptr);
  vkDestroyCommandPool(driver_.device(), pool_, nullptr);
}

void Commands::begin() {
  const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  check(vkBeginCommandBuffer(buffer_, &info), "vkBeginCommandBuffer");
}

void Commands::reset() noexcept {
  // If this fails for want of memory, begin() fails too, and throws.
  static_cast<void>(vkResetCommandPool(driver_.device(), pool_, 0));
  vkResetDescriptorPool(driver_.device(), set_pool_, 0);  // always succeeds
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
  check(vkAllocateDescriptorSets(driver_.device(), &info, &set), "vkAllocateDescriptorSets");
  std::vector<VkWriteDescriptorSet> writes;
  for (const VkDescriptorBufferInfo& buffer : buffers) {
    writes.push_back({.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                      .dstSet = set,
                      .dstBinding = static_cast<std::uint32_t>(writes.size()),
                      .descriptorCount = 1,
                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                      .pBufferInfo = &buffer});
  }
  vkUpdateDescriptorSets(driver_.device(), static_cast<std::uint32_t>(writes.size()), writes.data(),
                         0, nullptr);
  return set;
}

VkDescriptorBufferInfo Commands::put(std::span<const std::byte> bytes) {
  const std::size_t alignment = driver_.limits().minStorageBufferOffsetAlignment;
  std::size_t begin = (end_ + alignment - 1) / alignment * alignment;
  if (begin + bytes.size() > most_put) {
    if (chunks_used_ == chunks_.size()) {
      auto chunk = Chunk::allocate(driver_, most_put, Chunk::of_host);
      if (chunk == nullptr) {
        throw byre::OutOfMemory(most_put, "vulkan memory that the host addresses");
      }
      chunks_.push_back(std::move(chunk));
    }
    ++chunks_used_;
    begin = 0;
  }
  Chunk& chunk = *chunks_[chunks_used_ - 1];
  std::memcpy(chunk.mapped + begin, bytes.data(), bytes.size());
  end_ = begin + bytes.size();
  return {chunk.buffer, begin, bytes.size()};
}

}  // namespace examples::vulkan
