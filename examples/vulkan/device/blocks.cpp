// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/blocks.hpp"

#include <algorithm>
#include <byre/error/error.hpp>

#include "vulkan/device/errors.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan {
namespace {

/// False if there is no memory.
bool has_succeeded(VkResult result, const char* call) {
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS) {
    return false;
  }
  check(result, call);
  return true;
}

}  // namespace

Chunk::~Chunk() {
  vkDestroyBuffer(device, buffer, nullptr);
  vkFreeMemory(device, memory, nullptr);  // unmaps it
}

std::uint64_t Chunk::last_use() const noexcept {
  std::uint64_t last = 0;
  for (const DeviceBlock& block : blocks) {
    last = std::max(last, block.last_use);
  }
  return last;
}

std::unique_ptr<Chunk> allocate_chunk(const Driver& driver, std::size_t nbytes,
                                      std::uint32_t memory_type, bool is_mapped) {
  auto chunk = std::make_unique<Chunk>(driver.device());
  chunk->nbytes = nbytes;
  const VkBufferCreateInfo buffer{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                  .pNext = nullptr,
                                  .flags = 0,
                                  .size = nbytes,
                                  .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                  .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
                                  .queueFamilyIndexCount = 0,
                                  .pQueueFamilyIndices = nullptr};
  if (!has_succeeded(vkCreateBuffer(driver.device(), &buffer, nullptr, &chunk->buffer),
                     "vkCreateBuffer")) {
    return nullptr;
  }
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(driver.device(), chunk->buffer, &needs);
  if ((needs.memoryTypeBits >> memory_type & 1) == 0) {
    throw VulkanError(byre::format_text(
        "a storage buffer of %zu bytes cannot be in memory of type %u, as smaller ones can.",
        nbytes, memory_type));
  }
  const VkMemoryAllocateInfo memory{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .pNext = nullptr,
                                    .allocationSize = needs.size,
                                    .memoryTypeIndex = memory_type};
  if (!has_succeeded(faults::allocate_memory(driver.device(), memory, &chunk->memory),
                     "vkAllocateMemory")) {
    return nullptr;
  }
  if (!has_succeeded(vkBindBufferMemory(driver.device(), chunk->buffer, chunk->memory, 0),
                     "vkBindBufferMemory")) {
    return nullptr;
  }
  if (is_mapped) {
    void* mapped = nullptr;
    check(vkMapMemory(driver.device(), chunk->memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    chunk->mapped = static_cast<std::byte*>(mapped);
  }
  return chunk;
}

std::unique_ptr<Chunk> allocate_host_chunk(const Driver& driver, std::size_t nbytes) {
  auto chunk = allocate_chunk(driver, nbytes, driver.host_memory_type(), true);
  if (chunk == nullptr) {
    throw byre::OutOfMemory(nbytes, "vulkan memory that the host addresses");
  }
  return chunk;
}

}  // namespace examples::vulkan
