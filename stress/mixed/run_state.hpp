// SPDX-License-Identifier: BSL-1.0
/// RunState: what the threads of a run share.
#pragma once

#include <byre/memory/pool.hpp>

#include <boost/atomic/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "../failures.hpp"
#include "../faults/failing_allocator.hpp"
#include "../settings.hpp"
#include "checked_value.hpp"
#include "files.hpp"
#include "mailbox.hpp"
#include "shared_slots.hpp"
#include "tracking_allocator.hpp"

namespace byre::stress {

/// Of adopted memory, which is tracked too: a second call shows.
struct Deleter {
  TrackingAllocator* tracking;
  boost::atomic<std::uint64_t>* calls;
  Failures* failures;
  Block block;

  void operator()(void* data) const {
    if (data != block.data) {
      failures->add("a deleter was called with another address than was adopted");
    }
    // Relaxed: a sum, which publishes nothing.
    calls->fetch_add(1, boost::memory_order_relaxed);
    tracking->deallocate(block);
  }
};

/// The part that does not depend on the types under test.
struct RunResources {
  explicit RunResources(const Settings& with) : settings(with) {}
  ~RunResources() {
    if (tracking.live_blocks() != 0) {
      pool.release();  // its destructor would end the program over what is reported as a leak
    }
  }

  Deleter deleter_of(const Block& block) noexcept {
    return {&tracking, &deleter_calls, &failures, block};
  }

  const Settings settings;
  Failures failures;
  const Files files;
  // So small that blocks are recycled, evicted and unmapped all the time.
  static constexpr std::size_t pool_limit_nbytes = std::size_t{32} << 20;
  std::unique_ptr<RecyclingPool> pool = std::make_unique<RecyclingPool>(pool_limit_nbytes);
  TrackingAllocator tracking{*pool, failures};
  FailingAllocator allocator{tracking, settings.faults.budget_nbytes};
  boost::atomic<std::uint64_t> deleter_calls{0};
};

template <sync::Sync Sync, template <class> class Share>
struct RunState : RunResources {
  using Storage = basic_storage<Sync, Share>;

  explicit RunState(const Settings& with) : RunResources(with), mailboxes(with.threads) {}

  SharedSlots<Storage> shared_slots;
  std::deque<Mailbox<CheckedValue<Sync, Share>>> mailboxes;
};

}  // namespace byre::stress
