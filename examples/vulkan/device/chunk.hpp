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

#include "vulkan/device/driver.hpp"

namespace examples::vulkan {

struct Chunk;

/// A block that buffers are made in, and its place in the queue: the four numbers are the queue's, under its lock, until
/// the block is released.
struct DeviceBlock : byre::IdleBlock {
  DeviceBlock() noexcept : IdleBlock({}) {}
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(block.data); }

  Chunk* chunk = nullptr;
  std::size_t offset = 0;        ///< in the chunk
  DeviceBlock* next = nullptr;   ///< among the free ones of its size
  std::uint64_t last_write = 0;  ///< timeline values
  std::uint64_t last_use = 0;
  std::uint64_t written_in = 0;  ///< epochs: one, and the barriers before it was last written
  std::uint64_t read_in = 0;     ///< or read, and not written
};

/// Memory of the driver's and a buffer that is all of it: a large block, a slab of small ones, or memory of the host's.
struct Chunk {
  enum Use : bool { of_blocks, of_host };

  /// Null if there is no memory. Throws VulkanError for any other reason.
  static std::unique_ptr<Chunk> allocate(const Driver& driver, std::size_t nbytes, Use use);

  explicit Chunk(VkDevice owner) noexcept : device(owner) {}
  ~Chunk();
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  VkDevice device;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;  ///< where the host sees it, if it does
  std::size_t nbytes = 0;
  std::vector<DeviceBlock> blocks;  ///< one of a large block, many of a slab, none of the host's
  std::unique_ptr<Chunk> next;      ///< in a list
};

}  // namespace examples::vulkan
