// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/chunk.hpp"

#include "vulkan/device/errors.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan {

Chunk::~Chunk() {
  vkDestroyBuffer(device, buffer, nullptr);
  vkFreeMemory(device, memory, nullptr);  // unmaps it
}

std::unique_ptr<Chunk> Chunk::allocate(const Driver& driver, std::size_t nbytes, Use use) {
  VkDevice const device = driver.device();
  auto chunk = std::make_unique<Chunk>(device);
  chunk->nbytes = nbytes;
  const VkBufferCreateInfo buffer = Driver::storage_buffer(nbytes);
  if (!has_memory(vkCreateBuffer(device, &buffer, nullptr, &chunk->buffer), "vkCreateBuffer")) {
    return nullptr;
  }
  const std::uint32_t type =
      use == of_host ? driver.host_memory_type() : driver.block_memory_type();
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(device, chunk->buffer, &needs);
  if ((needs.memoryTypeBits >> type & 1) == 0) {
    throw VulkanError(
        byre::format_text("a storage buffer of %zu bytes cannot be in memory of type %u, as "
                          "smaller ones can. Use smaller tensors.",
                          nbytes, type));
  }
  const VkMemoryAllocateInfo memory{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .allocationSize = needs.size,
                                    .memoryTypeIndex = type};
  const VkResult fault = faults::allocate_memory.next();
  const VkResult result =
      fault != VK_SUCCESS ? fault : vkAllocateMemory(device, &memory, nullptr, &chunk->memory);
  if (!has_memory(result, "vkAllocateMemory") ||
      !has_memory(vkBindBufferMemory(device, chunk->buffer, chunk->memory, 0),
                  "vkBindBufferMemory")) {
    return nullptr;
  }
  if (use == of_host || driver.maps_blocks()) {
    void* mapped = nullptr;
    check(vkMapMemory(device, chunk->memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    chunk->mapped = static_cast<std::byte*>(mapped);
  }
  return chunk;
}

}  // namespace examples::vulkan
