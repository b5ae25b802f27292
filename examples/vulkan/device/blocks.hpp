// SPDX-License-Identifier: BSL-1.0
/// What the device's memory consists of: chunks, which the driver allocates, and the blocks in them.
#pragma once

#include <vulkan/vulkan.h>

#include <byre/memory/allocator.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace examples::vulkan {

struct Chunk;

/// A block that buffers are made in, and its place in the queue: those numbers are the queue's, under its lock, until
/// the block is released.
struct DeviceBlock : byre::IdleBlock {
  DeviceBlock() noexcept : IdleBlock({}) {}
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(block.data); }

  Chunk* chunk = nullptr;
  std::size_t offset = 0;         ///< in the chunk
  DeviceBlock* next = nullptr;    ///< among the free ones of a slab
  std::uint64_t last_write = 0;   ///< timeline values
  std::uint64_t last_use = 0;
  std::uint64_t written_in = 0;   ///< epochs: barriers so far when it was last written, read
  std::uint64_t read_in = 0;
};

/// Memory of the driver's and a buffer that is all of it: one large block, or a slab of small ones.
struct Chunk {
  explicit Chunk(VkDevice owner) noexcept : device(owner) {}
  ~Chunk();
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  VkDevice device;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;  ///< where the host sees it, if it does
  std::size_t nbytes = 0;
  std::vector<DeviceBlock> blocks;
  DeviceBlock* free = nullptr;  ///< of a slab
  std::size_t free_blocks = 0;
  std::unique_ptr<Chunk> next;  ///< in a list
};

/// The slabs of blocks of one size.
struct SlabsOfSize {
  std::size_t block_nbytes;
  std::vector<std::unique_ptr<Chunk>> slabs;
};

}  // namespace examples::vulkan
