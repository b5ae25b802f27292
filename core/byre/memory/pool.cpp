// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/aligned_allocator.hpp>
#include <byre/memory/detail/poison.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/memory/pool.hpp>
#include <byre/stats/counters.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace byre::inline v0 {
namespace {

using detail::ThreadCache;

constexpr std::size_t lead = page_nbytes;
static_assert(sizeof(detail::IdleBlock) <= lead);

/// What of a block is asked to be huge pages: whole ones, since the rest of another would be memory
/// nobody uses.
std::size_t huge_nbytes(std::size_t capacity) noexcept {
  return capacity / huge_page_nbytes * huge_page_nbytes;
}

std::size_t alignment_for(std::size_t capacity) noexcept {
  return huge_nbytes(capacity) != 0 ? huge_page_nbytes : page_nbytes;
}

std::size_t round_up(std::size_t nbytes, std::size_t multiple) noexcept {
  return (nbytes + multiple - 1) / multiple * multiple;
}

/// memcpy, which is not to be asked for no bytes from nowhere.
void copy_bytes(void* destination, const void* source, std::size_t nbytes) noexcept {
  if (nbytes != 0) {
    std::memcpy(destination, source, nbytes);
  }
}

/// Populates and copies by turns: the pages a system call makes present are zeroed on the way, and
/// are still in the cache when the copy overwrites them.
void copy_into_fresh(std::byte* destination, const std::byte* source, std::size_t nbytes) noexcept {
  constexpr std::size_t turn_nbytes = std::size_t{4} << 20;
  for (std::size_t done = 0; done < nbytes; done += turn_nbytes) {
    const std::size_t now = std::min(turn_nbytes, nbytes - done);
    populate(destination + done, round_up(now, page_nbytes));
    std::memcpy(destination + done, source + done, now);
  }
}

/// Bytes from the end of what an idle block says of itself to the end of its data.
std::size_t idle_nbytes_after(const detail::IdleBlock& idle) noexcept {
  return lead + idle.block.capacity - sizeof(detail::IdleBlock);
}

/// The block an idle one was.
Block revive(detail::IdleBlock* idle) noexcept {
  const Block block = idle->block;
  unpoison(idle + 1, idle_nbytes_after(*idle));
  idle->~IdleBlock();
  return block;
}

std::byte* data_of(const Block& block) noexcept {
  return static_cast<std::byte*>(block.data);
}

}  // namespace

std::size_t RecyclingPool::default_limit_nbytes() noexcept {
  return std::min(usable_memory_nbytes() / 8, std::size_t{4} << 30);
}

RecyclingPool::RecyclingPool(std::size_t limit_nbytes, PageSource& pages) noexcept
    : Allocator(UsesThreadCache()), pages_(&pages), idle_(limit_nbytes) {}

RecyclingPool::~RecyclingPool() {
  trim();
  BYRE_ASSERT(
      idle_.blocks_out() == 0,
      "a recycling pool was destroyed while buffers from it are alive; let it outlive them");
}

Block RecyclingPool::allocate(const Request& request) {
  return request.nbytes < recycled_from ? take_small(request) : find(request.nbytes).block;
}

Block RecyclingPool::allocate_copy(const Request& request, const void* source, std::size_t nbytes) {
  if (request.nbytes < recycled_from) {
    const Block block = take_small(request);
    copy_bytes(block.data, source, nbytes);
    return block;
  }
  const auto [block, fresh] = find(request.nbytes);
  if (fresh) {
    copy_into_fresh(data_of(block), static_cast<const std::byte*>(source), nbytes);
  } else {
    copy_bytes(block.data, source, nbytes);
  }
  return block;
}

Block RecyclingPool::take_small(const Request& request) {
  Block block = detail::take_from_thread_cache(request);
  if (block.data != nullptr) {
    return block;
  }
  Request whole_lines = request;
  if (request.prefix + request.nbytes <= ThreadCache::most_nbytes) {
    whole_lines.nbytes = ThreadCache::nbytes_for(request) - request.prefix;
  }
  block = AlignedAllocator::try_take(whole_lines);
  if (block.data == nullptr) [[unlikely]] {
    trim();
    block = aligned_allocator().allocate(whole_lines);
  }
  return block;
}

RecyclingPool::Found RecyclingPool::find(std::size_t nbytes) {
  const std::size_t capacity = round_up(nbytes, page_nbytes);
  detail::IdleBlock* idle = idle_.take(capacity);
  if (idle == nullptr) {
    return {map(nbytes, capacity), true};
  }
  const Block block = revive(idle);
  stats::detail::count(stats::detail::minus(stats::Counter::pooled_bytes, block.capacity));
  return {block, false};
}

void RecyclingPool::deallocate(const Block& block) noexcept {
  if (block.capacity < recycled_from) {
    if (!detail::put_in_thread_cache(block.base, data_of(block) + block.capacity)) {
      AlignedAllocator::give_back(block);
    }
    return;
  }
  if (block.capacity > limit_nbytes()) {
    idle_.count_as_gone();
    unmap(block);
    return;
  }
  if (grants_huge_pages()) {  // for small pages it costs as much as the copy that reuses them
    advise_reclaimable(data_of(block), huge_nbytes(block.capacity));
  }
  stats::detail::count(stats::detail::plus(stats::Counter::pooled_bytes, block.capacity));
  auto* idle = ::new (block.base) detail::IdleBlock(block);
  poison(idle + 1, idle_nbytes_after(*idle));
  idle_.put(*idle);
  trim(limit_nbytes());
}

std::size_t RecyclingPool::limit_nbytes() const noexcept {
  return idle_.limit();
}

std::size_t RecyclingPool::idle_nbytes() const noexcept {
  return idle_.nbytes();
}

void RecyclingPool::set_limit_nbytes(std::size_t limit_nbytes) noexcept {
  idle_.set_limit(limit_nbytes);
  trim(limit_nbytes);
}

void RecyclingPool::trim(std::size_t keep_nbytes) noexcept {
  while (detail::IdleBlock* idle = idle_.take_oldest_beyond(keep_nbytes)) {
    const Block block = revive(idle);
    stats::detail::count(stats::detail::minus(stats::Counter::pooled_bytes, block.capacity));
    unmap(block);
  }
  if (keep_nbytes == 0 && detail::this_threads_cache != nullptr) {
    detail::this_threads_cache->clear();
  }
}

Block RecyclingPool::map(std::size_t nbytes, std::size_t capacity) {
  std::byte* data = pages_->map(lead, capacity, alignment_for(capacity));
  if (data == nullptr) {
    trim();
    data = pages_->map(lead, capacity, alignment_for(capacity));
  }
  if (data == nullptr) {
    idle_.count_as_gone();
    throw OutOfMemory(nbytes, name());
  }
  advise_huge(data, huge_nbytes(capacity));
  return {data, capacity, data - lead};
}

void RecyclingPool::unmap(const Block& block) noexcept {
  pages_->unmap(data_of(block), lead, block.capacity);
}

RecyclingPool& default_pool() noexcept {
  return sync::no_destructor<RecyclingPool>();
}

Allocator& default_allocator() noexcept {
  return default_pool();
}

}  // namespace byre::inline v0
