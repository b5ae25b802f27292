// SPDX-License-Identifier: BSL-1.0
/// What the threads of a run share: the memory, the board, the mailboxes, the files.
#pragma once

#include <byre/memory/pool.hpp>

#include <boost/atomic/atomic.hpp>
#include <boost/circular_buffer.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "../failures.hpp"
#include "../faults/failing_allocator.hpp"
#include "../settings.hpp"
#include "accounts.hpp"
#include "board.hpp"
#include "files.hpp"
#include "item.hpp"

namespace byre::stress {

/// What other threads hand over. A full one takes no more. The lock orders giver and taker, as any
/// way to hand an object over does.
template <class Item>
class Mailbox {
 public:
  bool put(Item&& item) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (items_.full()) {
      return false;
    }
    items_.push_back(std::move(item));
    return true;
  }

  std::optional<Item> take() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    if (items_.empty()) {
      return std::nullopt;
    }
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  /// While nobody else uses it.
  const boost::circular_buffer<Item>& items() const noexcept { return items_; }
  void clear() { items_.clear(); }

 private:
  boost::mutex mutex_;
  boost::circular_buffer<Item> items_{4};
};

/// Adopted memory is booked too, so that a second call of its deleter shows.
struct Deleter {
  Accounts* accounts;
  boost::atomic<std::uint64_t>* calls;
  Failures* failures;
  Block block;

  void operator()(void* data) const {
    if (data != block.data) {
      failures->add("a deleter was called with another address than was adopted");
    }
    // Relaxed: a sum, which publishes nothing.
    calls->fetch_add(1, boost::memory_order_relaxed);
    accounts->deallocate(block);
  }
};

template <sync::Sync Sync, template <class> class Share>
struct World {
  using Item = stress::Item<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;

  explicit World(const Settings& with) : settings(with), mailboxes(with.threads) {}
  ~World() {
    if (accounts.blocks_out() != 0) {
      pool.release();  // which would end the program over what is reported as a leak
    }
  }

  Deleter deleter_of(const Block& block) noexcept {
    return {&accounts, &deleter_calls, &failures, block};
  }

  const Settings settings;
  Failures failures;
  const Files files;
  // So small that blocks are recycled, pushed out and unmapped all the time.
  static constexpr std::size_t pool_limit_nbytes = std::size_t{32} << 20;
  std::unique_ptr<RecyclingPool> pool = std::make_unique<RecyclingPool>(pool_limit_nbytes);
  Accounts accounts{*pool, failures};
  FailingAllocator allocator{accounts, settings.faults.budget_nbytes};
  boost::atomic<std::uint64_t> deleter_calls{0};
  Board<Storage> board;
  std::deque<Mailbox<Item>> mailboxes;
};

}  // namespace byre::stress
