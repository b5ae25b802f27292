// SPDX-License-Identifier: BSL-1.0
/// A container of released ("idle") blocks with the reuse rules of the recycling pool. Allocators
/// of other memory use it to recycle their blocks in the same way.
#pragma once

#include <byre/error/detail/intrusive_list.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/detail/size_tree.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI {

/// A released block. The allocator provides the storage of this object, for example as a base class
/// of its record for each block, so that releasing a block never allocates memory.
struct IdleBlock : detail::ListNode, detail::SizeNode {
  explicit IdleBlock(const Block& released) noexcept : block(released) {}
  Block block;
};

/// The idle blocks of an allocator. RecyclingPool (pool.hpp) documents how long a block stays idle.
/// If a member other than take() returns a block, the caller must return its memory to the system.
///
/// `seconds` are the seconds of a monotonic clock. Thread-safe. Cost: each call holds a mutex for a
/// lookup in a tree whose depth is the number of bits of a size. Nothing throws.
class IdleBlocks {
 public:
  explicit IdleBlocks(std::size_t limit_nbytes) noexcept : limit_nbytes_(limit_nbytes) {}

  /// Removes and returns the smallest block of at least `capacity` bytes, if at most an eighth of
  /// `capacity` stays unused; otherwise returns null, and the caller maps a new block. Either block
  /// counts as in use.
  IdleBlock* take(std::size_t capacity) noexcept {
    const sync::ProcessLock lock(mutex_);
    ++blocks_out_;
    detail::SizeNode* const found = by_size_.find_at_least(capacity);
    if (found == nullptr || found->nbytes() > largest_for(capacity)) {
      return nullptr;
    }
    return &remove(static_cast<IdleBlock&>(*found));
  }

  /// Reports that a block that counts as in use could not be mapped, or was unmapped. Optional for
  /// an allocator that never calls knows_of_blocks_out().
  void count_as_gone() noexcept {
    const sync::ProcessLock lock(mutex_);
    --blocks_out_;
  }

  /// Adds a block that was in use. Returns null, or a block to return to the system: `idle` itself
  /// if it is larger than the limit, else the oldest block if the idle bytes exceed the limit or if
  /// unneeded blocks are due (take_unneeded()).
  IdleBlock* put(IdleBlock& idle, std::uint64_t seconds) noexcept {
    const sync::ProcessLock lock(mutex_);
    --blocks_out_;
    if (idle.block.capacity > limit_nbytes_) {
      return &idle;
    }
    // take() finds the newest of blocks with equal sizes first: the block released last is most
    // likely still in the CPU's caches.
    by_size_.insert(idle, idle.block.capacity);
    by_age_.push_back(idle);
    nbytes_ += idle.block.capacity;
    return nbytes_ > limit_nbytes_ ? &remove(by_age_.front()) : remove_unneeded(seconds);
  }

  /// Removes and returns the oldest block if unneeded bytes are due, else returns null. At the end
  /// of a period, half of the bytes that were idle during the entire period become due.
  IdleBlock* take_unneeded(std::uint64_t seconds) noexcept {
    const sync::ProcessLock lock(mutex_);
    return remove_unneeded(seconds);
  }

  /// Removes and returns the oldest block if more idle bytes exist than `keep_nbytes` or the limit
  /// allows, else returns null.
  IdleBlock* take_oldest_beyond(std::size_t keep_nbytes) noexcept {
    const sync::ProcessLock lock(mutex_);
    return nbytes_ > (std::min)(keep_nbytes, limit_nbytes_) ? &remove(by_age_.front()) : nullptr;
  }

  void set_limit(std::size_t limit_nbytes) noexcept {
    const sync::ProcessLock lock(mutex_);
    limit_nbytes_ = limit_nbytes;
  }

  std::size_t limit() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return limit_nbytes_;
  }

  std::size_t nbytes() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return nbytes_;
  }

  /// True if blocks are in use. Always false in a forked child, because the parent's other threads,
  /// which do not exist in the child, may have been using blocks.
  bool knows_of_blocks_out() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return blocks_out_ != 0 && process_ == sync::detail::process_number;
  }

 private:
  IdleBlock& remove(IdleBlock& idle) noexcept {
    by_size_.remove(idle);
    by_age_.remove(idle);
    nbytes_ -= idle.block.capacity;
    always_idle_nbytes_ = (std::min)(always_idle_nbytes_, nbytes_);
    return idle;
  }

  IdleBlock* remove_unneeded(std::uint64_t seconds) noexcept {
    begin_period(seconds);
    if (by_age_.is_empty() || unneeded_nbytes_ < by_age_.front().block.capacity / 2) {
      return nullptr;
    }
    IdleBlock& oldest = by_age_.front();
    unneeded_nbytes_ -= (std::min)(unneeded_nbytes_, oldest.block.capacity);
    return &remove(oldest);
  }

  /// If the current period is over, ends it and all periods that have passed since.
  void begin_period(std::uint64_t seconds) noexcept {
    if (seconds < period_end_) {
      return;
    }
    const std::uint64_t periods = 1 + (seconds - period_end_) / period_seconds;
    unneeded_nbytes_ = always_idle_nbytes_ - (periods < 64 ? always_idle_nbytes_ >> periods : 0);
    always_idle_nbytes_ = nbytes_;
    period_end_ = seconds + period_seconds;
  }

  /// The largest block that may serve a request: an eighth more than `capacity`.
  static std::size_t largest_for(std::size_t capacity) noexcept { return capacity + capacity / 8; }

  mutable sync::ProcessMutex mutex_;
  detail::SizeTree by_size_;
  detail::IntrusiveList<IdleBlock> by_age_;
  static constexpr std::uint64_t period_seconds = 10;

  std::size_t nbytes_ = 0;
  std::size_t always_idle_nbytes_ = 0;  // the minimum of nbytes_ in this period
  std::size_t unneeded_nbytes_ = 0;     // still to be returned, from earlier periods
  std::uint64_t period_end_ = 0;
  std::size_t blocks_out_ = 0;
  std::size_t limit_nbytes_;
  const std::uint32_t process_ = sync::detail::process_number;
};

}  // namespace byre::inline BYRE_ABI
