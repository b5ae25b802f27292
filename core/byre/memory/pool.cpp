// SPDX-License-Identifier: BSL-1.0
#include <byre/error/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/aligned_allocator.hpp>
#include <byre/memory/poison.hpp>
#include <byre/memory/pool.hpp>
#include <byre/stats/counters.hpp>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstring>
#include <new>

namespace byre::inline v0 {
namespace {

using boost::lock_guard;
using boost::mutex;
namespace intrusive = boost::intrusive;

/// What an idle block says of itself, on the page before its data, so that releasing a block never
/// allocates.
struct IdleBlock : intrusive::set_base_hook<intrusive::optimize_size<true>>,
                   intrusive::list_base_hook<> {
  explicit IdleBlock(const Block& released) noexcept : block(released) {}
  Block block;
};

struct CapacityOf {
  using type = std::size_t;
  std::size_t operator()(const IdleBlock& idle) const noexcept { return idle.block.capacity; }
};

using BySize = intrusive::multiset<IdleBlock, intrusive::key_of_value<CapacityOf>>;
using ByAge = intrusive::list<IdleBlock>;

constexpr std::size_t lead = page_nbytes;
static_assert(sizeof(IdleBlock) <= lead);

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

/// A block may serve a request that leaves an eighth of it unused.
std::size_t largest_for(std::size_t capacity) noexcept {
  return capacity + capacity / 8;
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

std::byte* data_of(const Block& block) noexcept {
  return static_cast<std::byte*>(block.data);
}

}  // namespace

/// The released blocks, by size to find one and by age to give up the oldest.
class RecyclingPool::IdleBlocks {
 public:
  explicit IdleBlocks(std::size_t limit_nbytes) noexcept : limit_nbytes_(limit_nbytes) {}

  /// Takes out the smallest block that fits, if one does well enough. Counts it as out either way:
  /// the caller maps one otherwise.
  IdleBlock* take(std::size_t capacity) noexcept {
    const lock_guard<mutex> lock(mutex_);
    ++blocks_out_;
    const auto found = by_size_.lower_bound(capacity);
    if (found == by_size_.end() || found->block.capacity > largest_for(capacity)) {
      return nullptr;
    }
    return &remove(*found);
  }

  /// The caller of take() could not map a block after all.
  void not_taken() noexcept {
    const lock_guard<mutex> lock(mutex_);
    --blocks_out_;
  }

  void put(IdleBlock& idle) noexcept {
    const lock_guard<mutex> lock(mutex_);
    --blocks_out_;
    // In front of its equals, so that the block released last, and warmest, is taken first.
    by_size_.insert_before(by_size_.lower_bound(idle.block.capacity), idle);
    by_age_.push_back(idle);
    nbytes_ += idle.block.capacity;
  }

  /// Takes out the oldest block while more than `keep_nbytes` and the limit allow are idle.
  IdleBlock* take_oldest_beyond(std::size_t keep_nbytes) noexcept {
    const lock_guard<mutex> lock(mutex_);
    return nbytes_ > std::min(keep_nbytes, limit_nbytes_) ? &remove(by_age_.front()) : nullptr;
  }

  void set_limit(std::size_t limit_nbytes) noexcept {
    const lock_guard<mutex> lock(mutex_);
    limit_nbytes_ = limit_nbytes;
  }

  std::size_t limit() const noexcept {
    const lock_guard<mutex> lock(mutex_);
    return limit_nbytes_;
  }

  std::size_t nbytes() const noexcept {
    const lock_guard<mutex> lock(mutex_);
    return nbytes_;
  }

  std::size_t blocks_out() const noexcept {
    const lock_guard<mutex> lock(mutex_);
    return blocks_out_;
  }

 private:
  IdleBlock& remove(IdleBlock& idle) noexcept {
    by_size_.erase(by_size_.iterator_to(idle));
    by_age_.erase(by_age_.iterator_to(idle));
    nbytes_ -= idle.block.capacity;
    return idle;
  }

  mutable mutex mutex_;
  BySize by_size_;
  ByAge by_age_;
  std::size_t nbytes_ = 0;
  std::size_t blocks_out_ = 0;
  std::size_t limit_nbytes_;
};

std::size_t RecyclingPool::default_limit_nbytes() noexcept {
  return std::min(usable_memory_nbytes() / 8, std::size_t{4} << 30);
}

RecyclingPool::RecyclingPool(std::size_t limit_nbytes, PageSource& pages)
    : pages_(&pages), idle_(std::make_unique<IdleBlocks>(limit_nbytes)) {}

RecyclingPool::~RecyclingPool() {
  trim();
  BYRE_ASSERT(
      idle_->blocks_out() == 0,
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
  Block block = AlignedAllocator::try_take(request);
  if (block.data == nullptr) [[unlikely]] {
    trim();
    block = aligned_allocator().allocate(request);
  }
  return block;
}

RecyclingPool::Found RecyclingPool::find(std::size_t nbytes) {
  const std::size_t capacity = round_up(nbytes, page_nbytes);
  IdleBlock* idle = idle_->take(capacity);
  if (idle == nullptr) {
    return {map(nbytes, capacity), true};
  }
  const Block block = idle->block;
  idle->~IdleBlock();
  stats::detail::count(stats::detail::minus(stats::Counter::pooled_bytes, block.capacity));
  unpoison(block.data, block.capacity);
  return {block, false};
}

void RecyclingPool::deallocate(const Block& block) noexcept {
  if (block.capacity < recycled_from) {
    AlignedAllocator::give_back(block);
    return;
  }
  advise_reclaimable(data_of(block), huge_nbytes(block.capacity));
  poison(block.data, block.capacity);
  stats::detail::count(stats::detail::plus(stats::Counter::pooled_bytes, block.capacity));
  idle_->put(*::new (block.base) IdleBlock(block));
  trim(limit_nbytes());
}

std::size_t RecyclingPool::limit_nbytes() const noexcept {
  return idle_->limit();
}

std::size_t RecyclingPool::idle_nbytes() const noexcept {
  return idle_->nbytes();
}

void RecyclingPool::set_limit_nbytes(std::size_t limit_nbytes) noexcept {
  idle_->set_limit(limit_nbytes);
  trim(limit_nbytes);
}

void RecyclingPool::trim(std::size_t keep_nbytes) noexcept {
  while (IdleBlock* idle = idle_->take_oldest_beyond(keep_nbytes)) {
    const Block block = idle->block;
    idle->~IdleBlock();
    stats::detail::count(stats::detail::minus(stats::Counter::pooled_bytes, block.capacity));
    unpoison(block.data, block.capacity);
    unmap(block);
  }
}

Block RecyclingPool::map(std::size_t nbytes, std::size_t capacity) {
  std::byte* data = pages_->map(lead, capacity, alignment_for(capacity));
  if (data == nullptr) {
    trim();
    data = pages_->map(lead, capacity, alignment_for(capacity));
  }
  if (data == nullptr) {
    idle_->not_taken();
    throw OutOfMemory(nbytes, name());
  }
  advise_huge(data, huge_nbytes(capacity));
  return {data, capacity, data - lead};
}

void RecyclingPool::unmap(const Block& block) noexcept {
  pages_->unmap(data_of(block), lead, block.capacity);
}

RecyclingPool& default_pool() noexcept {
  static RecyclingPool& pool = *new RecyclingPool;
  return pool;
}

Allocator& default_allocator() noexcept {
  return default_pool();
}

}  // namespace byre::inline v0
