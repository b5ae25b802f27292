// SPDX-License-Identifier: BSL-1.0
/// Device memory: an allocator of byre's whose copies end in the order of a queue.
///
/// The address of a block is a number that nobody dereferences: numbers are given out of a range that no process
/// can map, and the memory finds the block that an address is in. A block of `large_from` bytes or more has
/// VkDeviceMemory of its own and is recycled by the rules of byre's pool; a smaller one is part of a slab of blocks
/// of one size, as a device allows few allocations (4096 on many cards).
///
/// A released block is handed out again at once, since whoever takes it comes later in the queue. Memory is given
/// back to the driver once the queue has passed its last use.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "vulkan/device/blocks.hpp"
#include "vulkan/device/driver.hpp"

namespace examples::vulkan {

class Queue;

/// Thread-safe; no call waits for the device but one that finds no memory.
class DeviceMemory final : public byre::Allocator {
 public:
  static constexpr std::size_t large_from = std::size_t{256} << 10;

  DeviceMemory(Driver& driver, byre::Device device);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Copies are made by this queue. Once, before the first request.
  void set_queue(Queue& queue) noexcept { queue_ = &queue; }

  /// Where the device has none, waits for the queue, gives back all that is idle and tries again. Throws
  /// byre::OutOfMemory, DeviceLost.
  byre::Block allocate(const byre::Request& request) override;
  /// A copy that the queue makes; on return it is recorded.
  byre::Block allocate_copy(const byre::Request& request, const void* source,
                            std::size_t nbytes) override;
  /// The same, submitted, and ended once the queue has passed it.
  byre::Block submit_copy(const byre::Request& request, const void* source, std::size_t nbytes,
                          byre::PendingCopy& pending) override;
  void deallocate(const byre::Block& block) noexcept override;
  void copy(void* destination, const void* source, std::size_t nbytes) override;
  const char* name() const noexcept override { return "vulkan memory"; }

  /// The block that has `nbytes` from `address`. Throws byre::InvalidArgument if there is none, as for an address of
  /// the host.
  DeviceBlock& find(const void* address, std::size_t nbytes);

  /// Bytes that idle large blocks may hold: an eighth of the heap, if nobody sets it. What exceeds it is given back.
  std::size_t limit_nbytes() const noexcept { return idle_.limit(); }
  void set_limit_nbytes(std::size_t limit_nbytes) noexcept;

  /// Gives idle large blocks back, least recently released first, until at most `keep_nbytes` are idle; to keep
  /// nothing gives back slabs too of which no block is out.
  void trim(std::size_t keep_nbytes = 0) noexcept;

  /// Bytes of blocks that are out; of large blocks and parts of slabs that wait for a request; and the most that were
  /// out at once since the last reset_peak(). A source that a copy under way reads is out.
  std::size_t live_nbytes() const noexcept;
  std::size_t idle_nbytes() const noexcept;
  std::size_t peak_nbytes() const noexcept;
  void reset_peak() noexcept;
  /// Bytes and number of allocations that the driver has given and not got back.
  std::size_t held_nbytes() const noexcept;
  std::size_t allocations() const noexcept;

  /// By the queue: what was released for good and was last used up to `passed` goes back to the driver.
  void free_passed(std::uint64_t passed) noexcept;

 private:
  DeviceBlock& take_small(std::size_t nbytes);
  DeviceBlock& take_large(std::size_t nbytes);
  std::unique_ptr<Chunk> obtain(std::size_t nbytes, std::size_t asked_nbytes);
  void number_blocks(Chunk& chunk, std::size_t block_nbytes);
  void add_slab(std::unique_ptr<Chunk> slab, std::size_t block_nbytes);
  void give_back(byre::IdleBlock* idle) noexcept;
  void give_back_empty_slabs() noexcept;
  void doom(std::unique_ptr<Chunk> chunk) noexcept;
  void count_out(std::size_t capacity) noexcept;

  Driver& driver_;
  Queue* queue_ = nullptr;
  byre::IdleBlocks idle_;

  mutable std::mutex mutex_;  // of all below; nothing else is locked while it is held
  std::map<std::uintptr_t, DeviceBlock*> blocks_;
  std::map<std::size_t, SlabsOfSize> slabs_;  // by the size of their blocks
  std::unique_ptr<Chunk> doomed_;             // a list
  std::uintptr_t next_address_;
  std::size_t live_nbytes_ = 0;
  std::size_t peak_nbytes_ = 0;
  std::size_t held_nbytes_ = 0;
  std::size_t allocations_ = 0;
  std::size_t idle_in_slabs_nbytes_ = 0;
};

}  // namespace examples::vulkan
