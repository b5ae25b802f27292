// SPDX-License-Identifier: BSL-1.0
/// Device memory: an allocator of byre's whose copies end in the order of a queue.
///
/// The address of a block is a number that is never dereferenced: numbers are given out of a range that no process
/// can map, and the memory finds the block that an address is in. A block of `large_from` bytes or more has
/// VkDeviceMemory of its own and is recycled by the rules of byre's pool; a smaller one is part of a slab of blocks
/// of one size, since a device allows few allocations (4096 on many cards).
///
/// A released block is handed out again at once, since its next use comes later in the queue. A large block is given
/// back to the driver once the queue has passed its last use; slabs stay.
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

/// A block that buffers are made in, and its place in the queue: the last three are the queue's, under its lock, until
/// the block is released.
struct DeviceBlock : byre::IdleBlock {
  DeviceBlock() noexcept : IdleBlock({}) {}
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(block.data); }

  Chunks::iterator chunk{};
  std::size_t offset = 0;        ///< in the chunk
  DeviceBlock* next = nullptr;   ///< among the free ones of its size
  std::uint64_t last_use = 0;    ///< a timeline value
  std::uint64_t written_in = 0;  ///< epochs: one, and the barriers before it was last written
  std::uint64_t read_in = 0;     ///< or read, and not written
};

/// Memory of the driver's and a buffer that is all of it: a large block, a slab of small ones, or memory of the host's.
struct Chunk {
  enum Use : bool { of_blocks, of_host };

  /// Throws byre::OutOfMemory, and VulkanError for any other reason.
  Chunk(const Driver& driver, std::size_t size, Use use);

  Owned<VkDeviceMemory, vkFreeMemory> memory;  // which unmaps it
  Owned<VkBuffer, vkDestroyBuffer> buffer;
  std::byte* mapped = nullptr;  ///< the host's
  std::size_t nbytes;
  std::vector<DeviceBlock> blocks;  ///< one of a large block, many of a slab, none of the host's
};

struct MemoryStats {
  /// The bytes of blocks that are out; a source that a copy under way reads is out.
  std::size_t live_nbytes = 0;
  std::size_t peak_nbytes = 0;  ///< the most of these since the last reset_peak()
  std::size_t idle_nbytes = 0;  ///< of large blocks and parts of slabs that wait for a request
  std::size_t held_nbytes = 0;  ///< that the driver has given and not got back
  std::size_t allocations = 0;  ///< of those
};

/// Thread-safe; no call waits for the device unless it finds no memory.
class DeviceMemory final : public byre::Allocator {
 public:
  static constexpr std::size_t large_from = std::size_t{256} << 10;

  DeviceMemory(const Driver& driver, byre::Device device);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Copies are made by this queue. Once, before the first request.
  void set_queue(Queue& queue) noexcept { queue_ = &queue; }

  /// If the device has no memory, waits for the queue, gives back all large blocks that are idle and tries again.
  /// Throws byre::OutOfMemory, DeviceLost.
  byre::Block allocate(const byre::Request& request) override;
  /// A copy that the queue makes; on return it is submitted. It ends once the queue has passed it.
  byre::Block submit_copy(const byre::Request& request, const void* source, std::size_t nbytes,
                          byre::PendingCopy& pending) override;
  void deallocate(const byre::Block& block) noexcept override;
  /// On return the copy is recorded.
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "vulkan memory"; }

  /// The block that has `nbytes` from `address`. Throws byre::InvalidArgument if there is none, as for an address of
  /// the host.
  DeviceBlock& find(const void* address, std::size_t nbytes);

  /// Gives all idle large blocks back. Idle blocks are also given back if they are more than an eighth of the heap.
  void trim() noexcept;

  MemoryStats stats() const noexcept;
  void reset_peak() noexcept;

  /// By the queue: memory of the driver's, tried for again as by allocate().
  std::unique_ptr<Chunk> obtain(std::size_t nbytes, Chunk::Use use);
  /// By the queue: released chunks that were last used up to `passed` go back to the driver.
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

  mutable std::mutex mutex_;  // of all below; nothing else is locked while it is held
  std::map<std::uintptr_t, DeviceBlock*> blocks_;
  std::map<std::size_t, DeviceBlock*> free_;  // lists of small blocks, by size
  Chunks chunks_;
  Chunks released_;  // each of a large block, given back, that the queue may not have passed
  std::uintptr_t next_address_;
  MemoryStats stats_;  // idle_nbytes: in slabs
};

}  // namespace examples::vulkan
