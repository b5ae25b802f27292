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

/// Blocks begin at multiples of this. Vulkan limits minStorageBufferOffsetAlignment to 256.
constexpr std::size_t alignment = 256;
constexpr std::size_t large_multiple = 4096;
constexpr std::size_t least_slab_nbytes = std::size_t{1} << 20;
constexpr std::size_t blocks_in_slab = 64;

/// No 64-bit process can map this address or a higher one.
constexpr std::uintptr_t first_address = std::uintptr_t{1} << 56;
static_assert(sizeof(void*) == 8);

std::size_t round_up(std::size_t nbytes, std::size_t multiple) noexcept {
  return (nbytes + multiple - 1) / multiple * multiple;
}

/// Rounds up to one of four sizes between two powers of two.
std::size_t small_capacity(std::size_t nbytes) noexcept {
  return round_up(nbytes, std::max(alignment, std::bit_floor(nbytes) / 4));
}

std::uint64_t seconds() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return static_cast<std::uint64_t>(since) + faults::seconds_ahead.load(std::memory_order_relaxed);
}

}  // namespace

Chunk::Chunk(const Driver& driver, std::size_t size, Use use) try : nbytes(size) {
  const VkBufferCreateInfo of_buffer = Driver::storage_buffer(nbytes);
  buffer = {driver.device, vkCreateBuffer, of_buffer, "vkCreateBuffer"};
  VkMemoryRequirements needs{};
  vkGetBufferMemoryRequirements(driver.device, buffer, &needs);
  const VkMemoryAllocateInfo of_memory{
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex = use == of_host ? driver.host_memory_type : driver.block_memory_type};
  const auto allocate = [](auto... arguments) {
    return faults::allocate_memory.call(vkAllocateMemory, arguments...);
  };
  memory = {driver.device, allocate, of_memory, "vkAllocateMemory"};
  check(vkBindBufferMemory(driver.device, buffer, memory, 0), "vkBindBufferMemory");
  if (use == of_host) {
    void* all = nullptr;
    check(vkMapMemory(driver.device, memory, 0, VK_WHOLE_SIZE, 0, &all), "vkMapMemory");
    mapped = static_cast<std::byte*>(all);
  }
} catch (const NoMemory&) {
  throw byre::OutOfMemory(size, use == of_host ? "host-visible vulkan memory" : "vulkan memory");
}

DeviceMemory::DeviceMemory(const Driver& driver, byre::Device device)
    : Allocator(device, byre::CopiesEnd::in_order),
      driver_(driver),
      idle_(driver.heap_nbytes / 8),
      next_address_(first_address) {}

DeviceMemory::~DeviceMemory() {
  queue_ = nullptr;  // the queue has been destroyed already
  trim();
}

byre::Block DeviceMemory::allocate(const byre::Request& request) {
  const std::size_t nbytes = std::max<std::size_t>(request.nbytes, 1);
  return (nbytes < large_from ? take_small(nbytes) : take_large(nbytes)).block;
}

byre::Block DeviceMemory::submit_copy(const byre::Request& request, const void* source,
                                      std::size_t nbytes, byre::PendingCopy& pending) {
  const byre::Block block = allocate(request);
  try {
    queue_->copy(block.data, source, nbytes, &pending);
  } catch (...) {
    deallocate(block);  // if the copy was recorded, the queue makes it before the block's next use
    throw;
  }
  return block;
}

void DeviceMemory::copy(void* destination, const void* source, std::size_t nbytes) {
  queue_->copy(destination, source, nbytes);
}

DeviceBlock& DeviceMemory::take_small(std::size_t nbytes) {
  const std::size_t capacity = small_capacity(nbytes);
  std::unique_lock lock(mutex_);
  DeviceBlock*& free = free_[capacity];
  while (free == nullptr) {
    lock.unlock();
    Chunks slab;
    slab.push_back(
        obtain(std::max(capacity * blocks_in_slab, least_slab_nbytes / capacity * capacity),
               Chunk::of_blocks));
    lock.lock();
    Chunk& added = add(std::move(slab), capacity);
    for (auto block = added.blocks.rbegin(); block != added.blocks.rend(); ++block) {
      block->next = std::exchange(free, &*block);
    }
    stats_.idle_nbytes += added.nbytes;
  }
  stats_.idle_nbytes -= capacity;
  count_out(capacity);
  return *std::exchange(free, free->next);
}

DeviceBlock& DeviceMemory::take_large(std::size_t nbytes) {
  const std::size_t capacity = round_up(nbytes, large_multiple);
  if (byre::IdleBlock* const found = idle_.take(capacity)) {
    const std::lock_guard lock(mutex_);
    count_out(found->block.capacity);
    return static_cast<DeviceBlock&>(*found);
  }
  // At most one block per request: returning many to the driver would delay the request.
  if (byre::IdleBlock* const oldest = idle_.take_unneeded(seconds())) {
    give_back(*oldest);
  }
  Chunks made;
  made.push_back(obtain(capacity, Chunk::of_blocks));
  const std::lock_guard lock(mutex_);
  DeviceBlock& block = add(std::move(made), capacity).blocks.front();
  count_out(capacity);
  return block;
}

std::unique_ptr<Chunk> DeviceMemory::obtain(std::size_t nbytes, Chunk::Use use) {
  if (nbytes > driver_.max_nbytes) {
    throw byre::OutOfMemory(byre::format_text(
        "cannot allocate %zu bytes of %s: a buffer of the device may have at most %llu (the "
        "minimum of maxBufferSize, maxMemoryAllocationSize and its heap). Use several smaller "
        "tensors.",
        nbytes, name(), static_cast<unsigned long long>(driver_.max_nbytes)));
  }
  try {
    return std::make_unique<Chunk>(driver_, nbytes, use);
  } catch (const byre::OutOfMemory&) {
    queue_->wait_idle();
    trim();
  }
  return std::make_unique<Chunk>(driver_, nbytes, use);
}

/// Divides a new chunk into blocks. Requires the lock.
Chunk& DeviceMemory::add(Chunks made, std::size_t block_nbytes) {
  Chunk& chunk = *made.front();
  chunk.blocks = std::vector<DeviceBlock>(chunk.nbytes / block_nbytes);
  std::size_t offset = 0;
  for (DeviceBlock& block : chunk.blocks) {
    block.block = {reinterpret_cast<void*>(next_address_), block_nbytes, &block};
    block.chunk = made.begin();
    block.offset = offset;
    try {
      blocks_.emplace_hint(blocks_.end(), next_address_, &block);
    } catch (...) {
      blocks_.erase(blocks_.lower_bound(chunk.blocks.front().address()), blocks_.end());
      throw;
    }
    offset += block_nbytes;
    next_address_ += block_nbytes;
  }
  next_address_ += alignment;  // the address past the end of a block belongs to no other block
  stats_.held_nbytes += chunk.nbytes;
  ++stats_.allocations;
  chunks_.splice(chunks_.end(), made);
  return chunk;
}

void DeviceMemory::deallocate(const byre::Block& released) noexcept {
  DeviceBlock& block = *static_cast<DeviceBlock*>(released.base);
  {
    const std::lock_guard lock(mutex_);
    stats_.live_nbytes -= block.block.capacity;
    if ((*block.chunk)->blocks.size() > 1) {
      block.next = std::exchange(free_.find(block.block.capacity)->second, &block);
      stats_.idle_nbytes += block.block.capacity;
      return;
    }
  }
  if (byre::IdleBlock* const oldest = idle_.put(block, seconds())) {
    give_back(*oldest);
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
  throw byre::InvalidArgument(byre::format_text(
      "cannot find a block that contains %zu bytes at %p in %s. Pass addresses of tensors on the "
      "device to commands of the queue. Use upload() and download() to copy host memory.",
      nbytes, address, name()));
}

void DeviceMemory::trim() noexcept {
  while (byre::IdleBlock* const oldest = idle_.take_oldest_beyond(0)) {
    give_back(*oldest);
  }
}

void DeviceMemory::give_back(byre::IdleBlock& idle) noexcept {
  auto& block = static_cast<DeviceBlock&>(idle);
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(block.address());
    released_.splice(released_.end(), chunks_, block.chunk);
  }
  free_passed(queue_ == nullptr ? 0 : queue_->passed());
}

void DeviceMemory::free_passed(std::uint64_t passed) noexcept {
  const std::lock_guard lock(mutex_);
  released_.remove_if([&](const std::unique_ptr<Chunk>& chunk) {
    const bool is_passed = chunk->blocks.front().last_use <= passed;
    stats_.held_nbytes -= is_passed ? chunk->nbytes : 0;
    stats_.allocations -= is_passed ? 1 : 0;
    return is_passed;
  });
}

void DeviceMemory::count_out(std::size_t capacity) noexcept {
  stats_.live_nbytes += capacity;
  stats_.peak_nbytes = std::max(stats_.peak_nbytes, stats_.live_nbytes);
}

MemoryStats DeviceMemory::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = stats_;
  stats.idle_nbytes += idle_.nbytes();
  return stats;
}

void DeviceMemory::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  stats_.peak_nbytes = stats_.live_nbytes;
}

}  // namespace examples::vulkan
