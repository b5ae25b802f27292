// SPDX-License-Identifier: BSL-1.0
#include <byre/stats/counters.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <new>
#include <vector>

namespace byre::inline v0::stats {

Counters operator-(const Counters& after, const Counters& before) noexcept {
  return {
      .lazy_clones = after.lazy_clones - before.lazy_clones,
      .copies = after.copies - before.copies,
      .steals = after.steals - before.steals,
      .waits = after.waits - before.waits,
      .bytes_copied = after.bytes_copied - before.bytes_copied,
      .bytes_not_copied = after.bytes_not_copied - before.bytes_not_copied,
      .live_bytes = after.live_bytes - before.live_bytes,
      .pooled_bytes = after.pooled_bytes - before.pooled_bytes,
  };
}

#if BYRE_STATS

namespace detail {

BYRE_TLS_MODEL constinit thread_local Shard this_threads_shard;

namespace {

/// The shards of the running threads, and the sum of the ended ones.
class Registry {
 public:
  /// False if there is no memory to do so.
  bool enlist(Shard& shard) noexcept {
    const sync::Lock lock(mutex_);
    try {
      shards_.push_back(&shard);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  void retire(const Shard& shard) noexcept {
    const sync::Lock lock(mutex_);
    for_each_counter([&](Counter counter) { ended_.add(counter, shard.get(counter)); });
    std::erase(shards_, &shard);
  }

  void add_to_ended(Change change) noexcept {
    const sync::Lock lock(mutex_);
    ended_.add(change.counter, change.value);
  }

  std::array<std::int64_t, counter_count> sum() noexcept {
    const sync::Lock lock(mutex_);
    std::array<std::int64_t, counter_count> sums{};
    for_each_counter([&](Counter counter) {
      std::int64_t& sum = sums[static_cast<std::size_t>(counter)];
      sum = ended_.get(counter);
      for (const Shard* shard : shards_) {
        sum += shard->get(counter);
      }
    });
    return sums;
  }

 private:
  template <class Visit>
  static void for_each_counter(Visit visit) {
    for (std::size_t counter = 0; counter < counter_count; ++counter) {
      visit(static_cast<Counter>(counter));
    }
  }

  sync::Mutex mutex_;
  std::vector<const Shard*> shards_;
  Shard ended_;
};

Registry& registry() noexcept {
  return sync::no_destructor<Registry>();
}

/// True once the thread's shard is taken out. What is counted later still, by destructors of other
/// thread-local objects, goes to the sum of the ended threads.
constinit thread_local bool thread_ended = false;

struct ThreadEnd {
  ~ThreadEnd() {
    thread_ended = true;
    if (this_threads_shard.is_enlisted()) {
      registry().retire(this_threads_shard);
      this_threads_shard.set_enlisted(false);
    }
  }
};

}  // namespace

void count_unlisted(Change change) noexcept {
  if (!this_threads_shard.is_enlisted() && !thread_ended) {
    [[maybe_unused]] thread_local ThreadEnd at_thread_end;
    this_threads_shard.set_enlisted(registry().enlist(this_threads_shard));
  }
  if (this_threads_shard.is_enlisted()) {
    this_threads_shard.add(change.counter, change.value);
  } else {
    registry().add_to_ended(change);
  }
}

}  // namespace detail

Counters snapshot() noexcept {
  const auto sums = detail::registry().sum();
  const auto of = [&](Counter counter) { return sums[static_cast<std::size_t>(counter)]; };
  return {
      .lazy_clones = of(Counter::lazy_clones),
      .copies = of(Counter::copies),
      .steals = of(Counter::steals),
      .waits = of(Counter::waits),
      .bytes_copied = of(Counter::bytes_unshared) + of(Counter::bytes_otherwise),
      .bytes_not_copied = of(Counter::bytes_cloned) - of(Counter::bytes_unshared),
      .live_bytes = of(Counter::live_bytes),
      .pooled_bytes = of(Counter::pooled_bytes),
  };
}

#else

Counters snapshot() noexcept {
  return {};
}

#endif

}  // namespace byre::inline v0::stats
