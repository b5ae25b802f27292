// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/commands.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vulkan/device/errors.hpp"

namespace examples::vulkan {

Commands::Commands(const Driver& driver) : driver_(driver) {
  const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .pNext = nullptr,
                                     .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                     .queueFamilyIndex = driver.queue_family()};
  check(vkCreateCommandPool(driver.device(), &pool, nullptr, &pool_), "vkCreateCommandPool");
  const VkCommandBufferAllocateInfo buffer{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .pNext = nullptr,
                                           .commandPool = pool_,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
  const VkResult result = vkAllocateCommandBuffers(driver.device(), &buffer, &buffer_);
  if (result != VK_SUCCESS) {
    vkDestroyCommandPool(driver.device(), pool_, nullptr);
  }
  check(result, "vkAllocateCommandBuffers");
}

Commands::~Commands() {
  for (VkDescriptorPool const pool : set_pools_) {
    vkDestroyDescriptorPool(driver_.device(), pool, nullptr);
  }
  vkDestroyCommandPool(driver_.device(), pool_, nullptr);
}

void Commands::begin() {
  const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .pNext = nullptr,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                      .pInheritanceInfo = nullptr};
  check(vkBeginCommandBuffer(buffer_, &info), "vkBeginCommandBuffer");
}

std::vector<std::shared_ptr<Chunk>> Commands::reset() noexcept {
  // What fails here is out of memory, and then fails again, with somebody to tell, when the commands begin.
  static_cast<void>(vkResetCommandPool(driver_.device(), pool_, 0));
  for (std::size_t i = 0; i != pools_used_; ++i) {
    vkResetDescriptorPool(driver_.device(), set_pools_[i], 0);  // always succeeds
  }
  pools_used_ = 0;
  parameter_chunks_used_ = 0;
  recorded = 0;
  return std::exchange(staging_, {});
}

std::size_t Commands::allocations() const noexcept {
  return 1 + set_pools_.size() + parameters_.size();
}

void Commands::add_pool() {
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers_in_pool};
  const VkDescriptorPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .maxSets = sets_in_pool,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &size};
  set_pools_.reserve(set_pools_.size() + 1);
  VkDescriptorPool pool = VK_NULL_HANDLE;
  check(vkCreateDescriptorPool(driver_.device(), &info, nullptr, &pool), "vkCreateDescriptorPool");
  set_pools_.push_back(pool);
}

VkDescriptorSet Commands::make_set(VkDescriptorSetLayout layout,
                                   std::span<const VkDescriptorBufferInfo> buffers) {
  VkDescriptorSet set = VK_NULL_HANDLE;
  for (bool is_first = pools_used_ != 0;; is_first = false) {
    if (!is_first) {
      if (pools_used_ == set_pools_.size()) {
        add_pool();
      }
      ++pools_used_;
    }
    const VkDescriptorSetAllocateInfo info{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .pNext = nullptr,
                                           .descriptorPool = set_pools_[pools_used_ - 1],
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &layout};
    const VkResult result = vkAllocateDescriptorSets(driver_.device(), &info, &set);
    if (result == VK_SUCCESS) {
      break;
    }
    const bool is_full =
        result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL;
    if (!is_full || !is_first) {
      check(result, "vkAllocateDescriptorSets");
    }
  }
  std::vector<VkWriteDescriptorSet> writes(buffers.size());
  for (std::uint32_t i = 0; i != writes.size(); ++i) {
    writes[i] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                 .pNext = nullptr,
                 .dstSet = set,
                 .dstBinding = i,
                 .dstArrayElement = 0,
                 .descriptorCount = 1,
                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                 .pImageInfo = nullptr,
                 .pBufferInfo = &buffers[i],
                 .pTexelBufferView = nullptr};
  }
  vkUpdateDescriptorSets(driver_.device(), static_cast<std::uint32_t>(writes.size()), writes.data(),
                         0, nullptr);
  return set;
}

VkDescriptorBufferInfo Commands::put_parameters(std::span<const std::byte> parameters) {
  const std::size_t nbytes = parameters.size();
  const std::size_t alignment = driver_.limits().minStorageBufferOffsetAlignment;
  std::size_t begin = (parameters_end_ + alignment - 1) / alignment * alignment;
  if (parameter_chunks_used_ == 0 ||
      begin + nbytes > parameters_[parameter_chunks_used_ - 1]->nbytes) {
    const std::size_t needed_nbytes = std::max(nbytes, parameters_nbytes);
    if (parameter_chunks_used_ == parameters_.size() ||
        parameters_[parameter_chunks_used_]->nbytes < needed_nbytes) {
      parameters_.insert(parameters_.begin() + static_cast<std::ptrdiff_t>(parameter_chunks_used_),
                         allocate_host_chunk(driver_, needed_nbytes));
    }
    ++parameter_chunks_used_;
    begin = 0;
  }
  Chunk& chunk = *parameters_[parameter_chunks_used_ - 1];
  std::memcpy(chunk.mapped + begin, parameters.data(), parameters.size());
  parameters_end_ = begin + nbytes;
  return {chunk.buffer, begin, nbytes};
}

}  // namespace examples::vulkan
