// SPDX-License-Identifier: BSL-1.0
/// The released blocks that an allocator keeps, by the rules of the recycling pool: for allocators of other memory
/// that recycle too.
#pragma once

#include <byre/memory/allocator.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0 {

/// A released block. Whose it is says where it lives: what an allocator notes of each of its blocks may derive from
/// it, so that releasing a block never allocates.
struct IdleBlock : boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>,
                   boost::intrusive::list_base_hook<> {
  explicit IdleBlock(const Block& released) noexcept : block(released) {}
  Block block;
};

/// RecyclingPool (pool.hpp) says how long a released block waits. The caller that is handed a block gives its memory
/// back. Thread-safe; each call holds a mutex for a look-up in a tree. `seconds` are those of a clock that only goes on.
class IdleBlocks {
 public:
  explicit IdleBlocks(std::size_t limit_nbytes) noexcept : limit_nbytes_(limit_nbytes) {}

  /// Takes out the smallest block that fits, if one does well enough. Counts it as out either way:
  /// the caller maps one otherwise.
  IdleBlock* take(std::size_t capacity) noexcept {
    const sync::ProcessLock lock(mutex_);
    ++blocks_out_;
    const auto found = by_size_.lower_bound(capacity);
    if (found == by_size_.end() || found->block.capacity > largest_for(capacity)) {
      return nullptr;
    }
    return &remove(*found);
  }

  /// A block counted as out is not, or no more: it could not be mapped, or was unmapped. An
  /// allocator that never calls knows_of_blocks_out() need not say so.
  void count_as_gone() noexcept {
    const sync::ProcessLock lock(mutex_);
    --blocks_out_;
  }

  /// Puts one in that is out, and takes one out that is to be given back, if there is one: that itself if
  /// it is beyond the limit alone, or else the oldest, if all are beyond it or not needed.
  IdleBlock* put(IdleBlock& idle, std::uint64_t seconds) noexcept {
    const sync::ProcessLock lock(mutex_);
    --blocks_out_;
    if (idle.block.capacity > limit_nbytes_) {
      return &idle;
    }
    // In front of its equals, so that the block released last, and warmest, is taken first.
    by_size_.insert_before(by_size_.lower_bound(idle.block.capacity), idle);
    by_age_.push_back(idle);
    nbytes_ += idle.block.capacity;
    return nbytes_ > limit_nbytes_ ? &remove(by_age_.front()) : remove_unneeded(seconds);
  }

  /// Takes out the oldest block, if blocks that nobody needed for a period are to be given back. At the
  /// end of a period that is half of the bytes that were idle all the time.
  IdleBlock* take_unneeded(std::uint64_t seconds) noexcept {
    const sync::ProcessLock lock(mutex_);
    return remove_unneeded(seconds);
  }

  /// Takes out the oldest block while more than `keep_nbytes` and the limit allow are idle.
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

  /// False in a child of the process that it was made in, where threads that are gone may have had some.
  bool knows_of_blocks_out() const noexcept {
    const sync::ProcessLock lock(mutex_);
    return blocks_out_ != 0 && process_ == sync::detail::process_number;
  }

 private:
  IdleBlock& remove(IdleBlock& idle) noexcept {
    by_size_.erase(by_size_.iterator_to(idle));
    by_age_.erase(by_age_.iterator_to(idle));
    nbytes_ -= idle.block.capacity;
    always_idle_nbytes_ = (std::min)(always_idle_nbytes_, nbytes_);
    return idle;
  }

  IdleBlock* remove_unneeded(std::uint64_t seconds) noexcept {
    begin_period(seconds);
    if (by_age_.empty() || unneeded_nbytes_ < by_age_.front().block.capacity / 2) {
      return nullptr;
    }
    IdleBlock& oldest = by_age_.front();
    unneeded_nbytes_ -= (std::min)(unneeded_nbytes_, oldest.block.capacity);
    return &remove(oldest);
  }

  /// Ends the period that is over, if it is, and those that passed since.
  void begin_period(std::uint64_t seconds) noexcept {
    if (seconds < period_end_) {
      return;
    }
    const std::uint64_t periods = 1 + (seconds - period_end_) / period_seconds;
    unneeded_nbytes_ = always_idle_nbytes_ - (periods < 64 ? always_idle_nbytes_ >> periods : 0);
    always_idle_nbytes_ = nbytes_;
    period_end_ = seconds + period_seconds;
  }

  struct CapacityOf {
    using type = std::size_t;
    std::size_t operator()(const IdleBlock& idle) const noexcept { return idle.block.capacity; }
  };

  /// A block may serve a request that leaves an eighth of it unused.
  static std::size_t largest_for(std::size_t capacity) noexcept { return capacity + capacity / 8; }

  mutable sync::ProcessMutex mutex_;
  boost::intrusive::multiset<IdleBlock, boost::intrusive::key_of_value<CapacityOf>> by_size_;
  boost::intrusive::list<IdleBlock> by_age_;
  static constexpr std::uint64_t period_seconds = 10;

  std::size_t nbytes_ = 0;
  std::size_t always_idle_nbytes_ = 0;  // the least that nbytes_ was in this period
  std::size_t unneeded_nbytes_ = 0;     // to be given back, of the periods before
  std::uint64_t period_end_ = 0;
  std::size_t blocks_out_ = 0;
  std::size_t limit_nbytes_;
  const std::uint32_t process_ = sync::detail::process_number;
};

}  // namespace byre::inline v0
