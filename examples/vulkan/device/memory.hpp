// SPDX-License-Identifier: BSL-1.0
/// The allocator of device memory. Its copies are deferred: they are submitted to a queue, and the
/// device makes them later, in order.
///
/// The address of a block is a number that is never dereferenced. It is taken from a range that no
/// process can map, and find() returns the block that contains an address. A block of
/// `large_from` bytes or more has its own VkDeviceMemory and is recycled by byre::IdleBlocks, as in
/// byre's pool. A smaller block is part of a slab of blocks of one size, because a device allows
/// few allocations (4096 on many cards).
///
/// A released block may be reused at once, because its next use is later in the queue. A large
/// block is returned to the driver after the queue has executed its last use. Slabs are never
/// returned.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/device/driver.hpp"

namespace examples::vulkan {

class Queue;
struct Chunk;
using Chunks = std::list<std::unique_ptr<Chunk>>;

/// A block of device memory. Until the block is released, only the queue accesses the last three
/// members, under the queue's lock.
struct DeviceBlock : byre::IdleBlock {
  DeviceBlock() noexcept : IdleBlock({}) {}
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(block.data); }

  Chunks::iterator chunk{};
  std::size_t offset = 0;        ///< from the begin of the chunk
  DeviceBlock* next = nullptr;   ///< the next free block of equal size
  std::uint64_t last_use = 0;    ///< timeline value of the last command that uses it
  std::uint64_t written_in = 0;  ///< epoch of the last write; an epoch begins at each barrier
  std::uint64_t read_in = 0;     ///< epoch of the last read-only access
};

/// Memory from the driver and one buffer of its size: a large block, a slab of small blocks, or
/// host memory.
struct Chunk {
  enum Use : bool { of_blocks, of_host };

  /// Throws byre::OutOfMemory, or VulkanError if a call fails for another reason.
  Chunk(const Driver& driver, std::size_t size, Use use);

  Owned<VkDeviceMemory, vkFreeMemory> memory;  // vkFreeMemory() also unmaps the memory
  Owned<VkBuffer, vkDestroyBuffer> buffer;
  std::byte* mapped = nullptr;  ///< address of host memory; null for device memory
  std::size_t nbytes;
  /// The blocks in this memory: a large block, the small blocks of a slab, or none in host memory.
  std::vector<DeviceBlock> blocks;
};

struct MemoryStats {
  /// Bytes of blocks in use. The source of a deferred copy is in use.
  std::size_t live_nbytes = 0;
  std::size_t peak_nbytes = 0;  ///< maximum of live_nbytes since the last reset_peak()
  std::size_t idle_nbytes = 0;  ///< bytes of idle large blocks and of idle blocks in slabs
  std::size_t held_nbytes = 0;  ///< bytes that the driver has allocated
  std::size_t allocations = 0;  ///< number of allocations of the driver
};

/// Thread-safe. Calls do not wait for the device unless memory is exhausted.
class DeviceMemory final : public byre::Allocator {
 public:
  static constexpr std::size_t large_from = std::size_t{256} << 10;

  DeviceMemory(const Driver& driver, byre::Device device);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Sets the queue that makes copies. Call it once, before the first request.
  void set_queue(Queue& queue) noexcept { queue_ = &queue; }

  /// If memory is exhausted, waits for the queue, returns all idle large blocks to the driver and
  /// tries again. Throws byre::OutOfMemory, DeviceLost.
  byre::Block allocate(const byre::Request& request) override;
  /// Submits a copy to the queue. The copy ends when the queue has executed it.
  byre::Block submit_copy(const byre::Request& request, const void* source, std::size_t nbytes,
                          byre::PendingCopy& pending) override;
  void deallocate(const byre::Block& block) noexcept override;
  /// Records the copy in the queue.
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "vulkan memory"; }

  /// Returns the block that contains `nbytes` bytes from `address` on. Throws byre::InvalidArgument
  /// if no block contains them, for example because it is an address of the host.
  DeviceBlock& find(const void* address, std::size_t nbytes);

  /// Returns all idle large blocks to the driver. Idle blocks beyond an eighth of the heap are
  /// returned automatically.
  void trim() noexcept;

  MemoryStats stats() const noexcept;
  void reset_peak() noexcept;

  /// For the queue: allocates memory from the driver, with a second try as in allocate().
  std::unique_ptr<Chunk> obtain(std::size_t nbytes, Chunk::Use use);
  /// For the queue: returns released chunks to the driver if the timeline value of their last use
  /// is at most `passed`.
  void free_passed(std::uint64_t passed) noexcept;

 private:
  DeviceBlock& take_small(std::size_t nbytes);
  DeviceBlock& take_large(std::size_t nbytes);
  Chunk& add(Chunks made, std::size_t block_nbytes);
  void give_back(byre::IdleBlock& idle) noexcept;
  void count_out(std::size_t capacity) noexcept;

  const Driver& driver_;
  Queue* queue_ = nullptr;
  byre::IdleBlocks idle_;

  mutable std::mutex mutex_;  // protects all members below; no other lock is taken while it is held
  std::map<std::uintptr_t, DeviceBlock*> blocks_;
  std::map<std::size_t, DeviceBlock*> free_;  // lists of free small blocks, by size
  Chunks chunks_;
  Chunks released_;  // large blocks to return when the queue has executed their last use
  std::uintptr_t next_address_;
  MemoryStats stats_;  // idle_nbytes counts slabs only
};

}  // namespace examples::vulkan
