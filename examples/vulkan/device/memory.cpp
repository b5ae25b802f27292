// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/memory.hpp"

#include <algorithm>
#include <bit>
#include <byre/error/error.hpp>
#include <chrono>
#include <utility>

#include "vulkan/device/faults.hpp"
#include "vulkan/device/queue.hpp"

namespace examples::vulkan {
namespace {

/// Of blocks, and so of what minStorageBufferOffsetAlignment may be at most.
constexpr std::size_t alignment = 256;
constexpr std::size_t large_multiple = 4096;
constexpr std::size_t least_slab_nbytes = std::size_t{1} << 20;
constexpr std::size_t blocks_in_slab = 64;

/// No process of a machine of 64 bits can map this, nor what follows.
constexpr std::uintptr_t first_address = std::uintptr_t{1} << 56;
static_assert(sizeof(void*) == 8);

std::size_t round_up(std::size_t nbytes, std::size_t multiple) noexcept {
  return (nbytes + multiple - 1) / multiple * multiple;
}

/// Four sizes from one power of two to the next.
std::size_t small_capacity(std::size_t nbytes) noexcept {
  return round_up(nbytes, std::max(alignment, std::bit_floor(nbytes) / 4));
}

std::uint64_t seconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return static_cast<std::uint64_t>(since) + faults::seconds_ahead();
}

DeviceBlock& block_of(void* base) noexcept {
  return *static_cast<DeviceBlock*>(base);
}

}  // namespace

DeviceMemory::DeviceMemory(Driver& driver, byre::Device device)
    : Allocator(device, byre::CopiesEnd::in_order),
      driver_(driver),
      idle_(driver.heap_nbytes() / 8),
      next_address_(first_address) {}

DeviceMemory::~DeviceMemory() {
  queue_ = nullptr;  // which is gone
  trim();
  free_passed(static_cast<std::uint64_t>(-1));
}

byre::Block DeviceMemory::allocate(const byre::Request& request) {
  const std::size_t nbytes = std::max<std::size_t>(request.nbytes, 1);
  DeviceBlock& block = nbytes < large_from ? take_small(nbytes) : take_large(nbytes);
  return block.block;
}

byre::Block DeviceMemory::allocate_copy(const byre::Request& request, const void* source,
                                        std::size_t nbytes) {
  const byre::Block block = allocate(request);
  try {
    queue_->copy(block.data, source, nbytes);
  } catch (...) {
    deallocate(block);
    throw;
  }
  return block;
}

byre::Block DeviceMemory::submit_copy(const byre::Request& request, const void* source,
                                      std::size_t nbytes, byre::PendingCopy& pending) {
  const byre::Block block = allocate(request);
  try {
    queue_->copy_for_writer(block.data, source, nbytes, pending);
  } catch (...) {
    deallocate(block);  // if the copy was recorded, it is made before whatever comes next there
    throw;
  }
  return block;
}

void DeviceMemory::copy(void* destination, const void* source, std::size_t nbytes) {
  queue_->copy(destination, source, nbytes);
}

DeviceBlock& DeviceMemory::take_small(std::size_t nbytes) {
  const std::size_t capacity = small_capacity(nbytes);
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      SlabsOfSize& of_size = slabs_[capacity];
      if (DeviceBlock* const block = of_size.free) {
        of_size.free = block->next;
        --block->chunk->free_blocks;
        idle_in_slabs_nbytes_ -= capacity;
        count_out(capacity);
        return *block;
      }
    }
    const std::size_t slab_nbytes = std::max(capacity * blocks_in_slab, least_slab_nbytes);
    add_slab(obtain(slab_nbytes / capacity * capacity, nbytes), capacity);
  }
}

void DeviceMemory::add_slab(std::unique_ptr<Chunk> slab, std::size_t block_nbytes) {
  const std::lock_guard lock(mutex_);
  SlabsOfSize& of_size = slabs_[block_nbytes];
  of_size.slabs.reserve(of_size.slabs.size() + 1);
  number_blocks(*slab, block_nbytes);
  slab->slabs = &of_size;
  slab->free_blocks = slab->blocks.size();
  for (auto block = slab->blocks.rbegin(); block != slab->blocks.rend(); ++block) {
    block->next = std::exchange(of_size.free, &*block);
  }
  idle_in_slabs_nbytes_ += slab->nbytes;
  held_nbytes_ += slab->nbytes;
  ++allocations_;
  of_size.slabs.push_back(std::move(slab));
}

DeviceBlock& DeviceMemory::take_large(std::size_t nbytes) {
  const std::size_t capacity = round_up(nbytes, large_multiple);
  if (byre::IdleBlock* const found = idle_.take(capacity)) {
    auto& block = static_cast<DeviceBlock&>(*found);
    const std::lock_guard lock(mutex_);
    count_out(block.block.capacity);
    return block;
  }
  // One block, so that nobody waits for the driver to take many.
  if (byre::IdleBlock* const oldest = idle_.take_unneeded(seconds())) {
    give_back(oldest);
  }
  std::unique_ptr<Chunk> chunk = obtain(capacity, nbytes);
  const std::lock_guard lock(mutex_);
  number_blocks(*chunk, capacity);
  count_out(capacity);
  held_nbytes_ += capacity;
  ++allocations_;
  return chunk.release()->blocks.front();
}

std::unique_ptr<Chunk> DeviceMemory::obtain(std::size_t nbytes, std::size_t asked_nbytes) {
  if (nbytes > driver_.max_nbytes()) {
    throw byre::OutOfMemory(byre::format_text(
        "%zu bytes were asked of the %s, and the device has no buffer of more than %llu (the least "
        "of maxBufferSize, "
        "maxMemoryAllocationSize and its heap). Use several smaller tensors.",
        asked_nbytes, name(), static_cast<unsigned long long>(driver_.max_nbytes())));
  }
  for (const bool is_last : {false, true}) {
    auto chunk =
        allocate_chunk(driver_, nbytes, driver_.block_memory_type(), driver_.maps_blocks());
    if (chunk != nullptr) {
      return chunk;
    }
    if (!is_last) {
      queue_->wait_idle();
      trim();
    }
  }
  throw byre::OutOfMemory(asked_nbytes, name());
}

void DeviceMemory::number_blocks(Chunk& chunk, std::size_t block_nbytes) {
  chunk.blocks = std::vector<DeviceBlock>(chunk.nbytes / block_nbytes);
  std::size_t offset = 0;
  for (DeviceBlock& block : chunk.blocks) {
    block.block = {reinterpret_cast<void*>(next_address_), block_nbytes, &block};
    block.chunk = &chunk;
    block.offset = offset;
    try {
      blocks_.emplace_hint(blocks_.end(), next_address_, &block);
    } catch (...) {
      std::erase_if(blocks_, [&chunk](const auto& entry) { return entry.second->chunk == &chunk; });
      throw;
    }
    offset += block_nbytes;
    next_address_ += block_nbytes;
  }
  next_address_ = round_up(next_address_ + 1, alignment);  // one past the end is nobody's
}

void DeviceMemory::deallocate(const byre::Block& released) noexcept {
  DeviceBlock& block = block_of(released.base);
  Chunk& chunk = *block.chunk;
  {
    const std::lock_guard lock(mutex_);
    live_nbytes_ -= block.block.capacity;
    if (chunk.slabs != nullptr) {
      block.next = std::exchange(chunk.slabs->free, &block);
      ++chunk.free_blocks;
      idle_in_slabs_nbytes_ += block.block.capacity;
      return;
    }
  }
  if (byre::IdleBlock* const oldest = idle_.put(block, seconds())) {
    give_back(oldest);
    trim(limit_nbytes());
  }
}

DeviceBlock& DeviceMemory::find(const void* address, std::size_t nbytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(from);
  if (after != blocks_.begin()) {
    DeviceBlock& block = *std::prev(after)->second;
    const std::size_t offset = from - block.address();
    if (offset <= block.block.capacity && nbytes <= block.block.capacity - offset) {
      return block;
    }
  }
  throw byre::InvalidArgument(
      byre::format_text("%zu bytes at %p are in no block of the %s. A command of the queue takes "
                        "addresses that tensors of the device "
                        "have; memory of the host is copied by upload() and download().",
                        nbytes, address, name()));
}

void DeviceMemory::set_limit_nbytes(std::size_t limit_nbytes) noexcept {
  idle_.set_limit(limit_nbytes);
  trim(limit_nbytes);
}

void DeviceMemory::trim(std::size_t keep_nbytes) noexcept {
  while (byre::IdleBlock* const oldest = idle_.take_oldest_beyond(keep_nbytes)) {
    give_back(oldest);
  }
  if (keep_nbytes == 0) {
    give_back_empty_slabs();
  }
}

void DeviceMemory::give_back(byre::IdleBlock* idle) noexcept {
  auto& block = static_cast<DeviceBlock&>(*idle);
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(block.address());
  }
  doom(std::unique_ptr<Chunk>(block.chunk));
}

void DeviceMemory::give_back_empty_slabs() noexcept {
  std::unique_ptr<Chunk> empty;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [block_nbytes, of_size] : slabs_) {
      const auto is_empty = [](const Chunk& slab) {
        return slab.free_blocks == slab.blocks.size();
      };
      for (DeviceBlock** link = &of_size.free; *link != nullptr;) {
        if (is_empty(*(*link)->chunk)) {
          blocks_.erase((*link)->address());
          *link = (*link)->next;
        } else {
          link = &(*link)->next;
        }
      }
      for (auto& slab : of_size.slabs) {
        if (is_empty(*slab)) {
          idle_in_slabs_nbytes_ -= slab->nbytes;
          slab->next = std::exchange(empty, nullptr);
          empty = std::move(slab);
        }
      }
      std::erase(of_size.slabs, nullptr);
    }
  }
  while (empty != nullptr) {
    std::unique_ptr<Chunk> rest = std::move(empty->next);
    doom(std::exchange(empty, std::move(rest)));
  }
}

void DeviceMemory::doom(std::unique_ptr<Chunk> chunk) noexcept {
  {
    const std::lock_guard lock(mutex_);
    chunk->next = std::move(doomed_);
    doomed_ = std::move(chunk);
  }
  free_passed(queue_ == nullptr ? 0 : queue_->passed());
}

void DeviceMemory::free_passed(std::uint64_t passed) noexcept {
  std::unique_ptr<Chunk> freed;
  {
    const std::lock_guard lock(mutex_);
    for (std::unique_ptr<Chunk>* link = &doomed_; *link != nullptr;) {
      if ((*link)->last_use() > passed) {
        link = &(*link)->next;
        continue;
      }
      std::unique_ptr<Chunk> chunk = std::move(*link);
      *link = std::move(chunk->next);
      held_nbytes_ -= chunk->nbytes;
      --allocations_;
      chunk->next = std::exchange(freed, nullptr);
      freed = std::move(chunk);
    }
  }
  while (freed != nullptr) {
    freed = std::unique_ptr<Chunk>(std::move(freed->next));
  }
}

void DeviceMemory::count_out(std::size_t capacity) noexcept {
  live_nbytes_ += capacity;
  peak_nbytes_ = std::max(peak_nbytes_, live_nbytes_);
}

std::size_t DeviceMemory::live_nbytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return live_nbytes_;
}

std::size_t DeviceMemory::idle_nbytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return idle_.nbytes() + idle_in_slabs_nbytes_;
}

std::size_t DeviceMemory::peak_nbytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return peak_nbytes_;
}

void DeviceMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  peak_nbytes_ = live_nbytes_;
}

std::size_t DeviceMemory::held_nbytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return held_nbytes_;
}

std::size_t DeviceMemory::allocations() const noexcept {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

}  // namespace examples::vulkan
