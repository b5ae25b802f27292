// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/detail/malloc.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/detail/thread_cache.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/idle_blocks.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/memory.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

using detail::ThreadCache;
using stats::detail::RecordKind;

constexpr std::size_t lead = page_nbytes;
static_assert(sizeof(IdleBlock) <= lead);

/// The bytes of a block to back with huge pages. A partly used huge page would waste memory, so
/// only complete huge pages count.
std::size_t huge_nbytes(std::size_t capacity) noexcept {
  return capacity / huge_page_nbytes * huge_page_nbytes;
}

std::size_t alignment_for(std::size_t capacity) noexcept {
  return huge_nbytes(capacity) != 0 ? huge_page_nbytes : page_nbytes;
}

std::size_t round_up(std::size_t nbytes, std::size_t multiple) noexcept {
  return (nbytes + multiple - 1) / multiple * multiple;
}

/// Copies in pieces: glibc copies a huge page downwards if source and destination have equal
/// offsets in their pages, and two blocks of a pool always have equal offsets.
void copy_upwards(std::byte* destination, const std::byte* source, std::size_t nbytes) noexcept {
  constexpr std::size_t piece_nbytes = std::size_t{128} << 10;
  for (std::size_t done = 0; done < nbytes; done += piece_nbytes) {
    std::memcpy(destination + done, source + done, std::min(piece_nbytes, nbytes - done));
  }
}

/// Populates and copies in alternation: the system zeroes the pages that it populates, and these
/// are still in the CPU's caches when the copy overwrites them. Linux zeroes a huge page toward the
/// requested address. A request for its end makes Linux zero upwards, which takes less than half of
/// the time.
void copy_into_fresh(std::byte* destination, const std::byte* source, std::size_t nbytes) noexcept {
  for (std::size_t done = 0; done < nbytes; done += huge_page_nbytes) {
    const std::size_t now = std::min(huge_page_nbytes, nbytes - done);
    const std::size_t populated = round_up(now, page_nbytes);
    if (populated == huge_page_nbytes) {
      system::populate(destination + done + huge_page_nbytes - page_nbytes, page_nbytes);
    }
    system::populate(destination + done,
                     populated);  // populates the rest if there was no huge page
    copy_upwards(destination + done, source + done, now);
  }
}

/// The bytes between the end of an idle block's record and the end of its data.
std::size_t idle_nbytes_after(const IdleBlock& idle) noexcept {
  return lead + idle.block.capacity - sizeof(IdleBlock);
}

/// Destroys the record of an idle block and returns the block.
Block revive(IdleBlock* idle) noexcept {
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
  constexpr std::uint64_t most_nbytes = std::uint64_t{4} << 30;  // does not fit in 32 bits
  return static_cast<std::size_t>(std::min<std::uint64_t>(usable_memory_nbytes() / 8, most_nbytes));
}

RecyclingPool::RecyclingPool(std::size_t limit_nbytes, PageSource& pages) noexcept
    : Allocator(UsesThreadCache(), &pages == &system_pages()), pages_(&pages) {
  static_assert(sizeof(IdleBlocks) <= sizeof idle_);
  ::new (idle_) IdleBlocks(limit_nbytes);
}

RecyclingPool::~RecyclingPool() {
  trim();
  BYRE_ASSERT(!idle().knows_of_blocks_out(),
              "cannot destroy a recycling pool: buffers from it still exist. Destroy them first.");
  idle().~IdleBlocks();
}

IdleBlocks& RecyclingPool::idle() const noexcept {
  return *std::launder(reinterpret_cast<IdleBlocks*>(idle_));
}

Block RecyclingPool::allocate(const Request& request) {
  return request.nbytes < recycled_from ? take_small(request) : find(request.nbytes).block;
}

Block RecyclingPool::allocate_copy(const Request& request, const void* source, std::size_t nbytes) {
  if (request.nbytes < recycled_from) {
    const Block block = take_small(request);
    copy(block.data, source, nbytes);
    return block;
  }
  const auto [block, fresh] = find(request.nbytes);
  if (fresh) {
    copy_into_fresh(data_of(block), static_cast<const std::byte*>(source), nbytes);
  } else {
    copy(block.data, source, nbytes);
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
  block = detail::try_malloc(whole_lines);
  if (block.data == nullptr) [[unlikely]] {
    trim();
    block = aligned_allocator().allocate(whole_lines);
  }
  return block;
}

RecyclingPool::Found RecyclingPool::find(std::size_t nbytes) {
  const std::size_t capacity = round_up(nbytes, page_nbytes);
  IdleBlock* const found = idle().take(capacity);
  if (found == nullptr) {
    // Unmaps only one unneeded block, because unmapping many would delay this request.
    if (IdleBlock* const oldest = idle().take_unneeded(pages_->seconds())) {
      give_back(oldest);
    }
    return {map(nbytes, capacity), true};
  }
  const Block block = revive(found);
  stats::detail::report_pool(RecordKind::pool_hit, block.capacity,
                             stats::detail::minus(stats::Counter::pooled_bytes, block.capacity));
  return {block, false};
}

void RecyclingPool::deallocate(const Block& block) noexcept {
  if (block.capacity < recycled_from) {
    ThreadCache* const cache = detail::thread_cache();
    if (cache == nullptr || !cache->put(block.base, data_of(block) + block.capacity)) {
      std::free(block.base);
    }
    return;
  }
  // For small pages, the advice would cost as much as the next copy into the block.
  if (grants_huge_pages()) {
    system::advise_reclaimable(data_of(block), huge_nbytes(block.capacity));
  }
  stats::detail::report_pool(RecordKind::pool_put, block.capacity,
                             stats::detail::plus(stats::Counter::pooled_bytes, block.capacity));
  auto* released = ::new (block.base) IdleBlock(block);
  poison(released + 1, idle_nbytes_after(*released));
  if (IdleBlock* const oldest = idle().put(*released, pages_->seconds())) {
    give_back(oldest);
    trim(limit_nbytes());
  }
}

std::size_t RecyclingPool::nbytes_taken_by(const Block& block) const noexcept {
  return detail::nbytes_from_base(block);
}

std::size_t RecyclingPool::limit_nbytes() const noexcept {
  return idle().limit();
}

std::size_t RecyclingPool::idle_nbytes() const noexcept {
  return idle().nbytes();
}

void RecyclingPool::set_limit_nbytes(std::size_t limit_nbytes) noexcept {
  idle().set_limit(limit_nbytes);
  trim(limit_nbytes);
}

void RecyclingPool::trim(std::size_t keep_nbytes) noexcept {
  while (IdleBlock* oldest = idle().take_oldest_beyond(keep_nbytes)) {
    give_back(oldest);
  }
  if (keep_nbytes == 0 && detail::this_threads_cache() != nullptr) {
    detail::this_threads_cache()->clear();
  }
}

void RecyclingPool::give_back(IdleBlock* idle) noexcept {
  const Block block = revive(idle);
  stats::detail::report_pool(RecordKind::pool_return, block.capacity,
                             stats::detail::minus(stats::Counter::pooled_bytes, block.capacity),
                             stats::detail::minus(stats::Counter::overhead_bytes, lead));
  pages_->unmap(data_of(block), lead, block.capacity);
}

Block RecyclingPool::map(std::size_t nbytes, std::size_t capacity) {
  std::byte* data = pages_->map(lead, capacity, alignment_for(capacity));
  if (data == nullptr) {
    trim();
    data = pages_->map(lead, capacity, alignment_for(capacity));
  }
  if (data == nullptr) {
    idle().count_as_gone();
    throw OutOfMemory(nbytes, name());
  }
  system::advise_huge(data, huge_nbytes(capacity));
  stats::detail::report_pool(RecordKind::pool_miss, capacity,
                             stats::detail::plus(stats::Counter::overhead_bytes, lead));
  return {data, capacity, data - lead};
}

namespace {
struct DefaultPool final : sync::detail::ProcessState {
  DefaultPool() { enter(); }

  RecyclingPool pool;

 private:
  /// Without this trim(), each unloading of the library would leak the idle blocks.
  void at_unload() noexcept override { pool.trim(); }
};
}  // namespace

RecyclingPool& default_pool() noexcept {
  return sync::no_destructor<DefaultPool>().pool;
}

Allocator& default_allocator() noexcept {
  return default_pool();
}

}  // namespace byre::inline BYRE_ABI
