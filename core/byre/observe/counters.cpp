// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/thread_end.hpp>

#include <array>

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
      .overlays = after.overlays - before.overlays,
      .pinned_bytes = after.pinned_bytes - before.pinned_bytes,
  };
}

namespace detail {

BYRE_TLS_MODEL constinit thread_local Shard this_threads_shard;

namespace {

/// The shards of the running threads, and the sum of the ended ones.
class Registry final : sync::detail::ProcessState {
 public:
  Registry() { enter(); }

  void enlist(Shard& shard) noexcept {
    const sync::ProcessLock lock(mutex_);
    shard.set_enlisted(true);
    shard.set_only_counts(recordings_ == 0);
    shard.next = shards_;
    shards_ = &shard;
  }

  void retire(Shard& shard) noexcept {
    const sync::ProcessLock lock(mutex_);
    add_to_ended(shard);
    Shard** place = &shards_;
    while (*place != &shard) {
      place = &(*place)->next;
    }
    *place = shard.next;
    shard.set_only_counts(false);
    shard.set_enlisted(false);
  }

  void change_recordings(std::int64_t by) noexcept {
    const sync::ProcessLock lock(mutex_);
    recordings_ += by;
    for (Shard* shard = shards_; shard != nullptr; shard = shard->next) {
      shard->set_only_counts(recordings_ == 0);
    }
  }

  void add_to_ended(Change change) noexcept {
    const sync::ProcessLock lock(mutex_);
    ended_.add(change.counter, change.value);
  }

  void add(Gauge& gauge) noexcept {
    const sync::ProcessLock lock(mutex_);
    gauge.next = gauges_;
    gauges_ = &gauge;
  }

  std::array<std::int64_t, counter_count> sum() noexcept {
    const Gauge* gauge = nullptr;
    auto sums = sum_of_counted(gauge);
    for (; gauge != nullptr; gauge = gauge->next) {
      sums[static_cast<std::size_t>(gauge->counter)] += gauge->value();
    }
    return sums;
  }

 private:
  std::array<std::int64_t, counter_count> sum_of_counted(const Gauge*& gauges) noexcept {
    const sync::ProcessLock lock(mutex_);
    gauges = gauges_;
    std::array<std::int64_t, counter_count> sums{};
    for_each_counter([&](Counter counter) {
      std::int64_t& sum = sums[static_cast<std::size_t>(counter)];
      sum = ended_.get(counter);
      for (const Shard* shard = shards_; shard != nullptr; shard = shard->next) {
        sum += shard->get(counter);
      }
    });
    return sums;
  }

  /// The other threads are gone, and their shards' memory will be used again.
  void in_child() noexcept override {
    Shard* const own = &this_threads_shard;
    for (const Shard* shard = shards_; shard != nullptr; shard = shard->next) {
      if (shard != own) {
        add_to_ended(*shard);
      }
    }
    own->next = nullptr;
    shards_ = own->is_enlisted() ? own : nullptr;
  }

  void add_to_ended(const Shard& shard) noexcept {
    for_each_counter([&](Counter counter) { ended_.add(counter, shard.get(counter)); });
  }

  template <class Visit>
  static void for_each_counter(Visit visit) {
    for (std::size_t counter = 0; counter < counter_count; ++counter) {
      visit(static_cast<Counter>(counter));
    }
  }

  sync::ProcessMutex mutex_;
  Shard* shards_ = nullptr;
  Gauge* gauges_ = nullptr;
  std::int64_t recordings_ = 0;
  Shard ended_;
};

Registry& registry() noexcept {
  return sync::no_destructor<Registry>();
}

void retire_this_threads_shard() noexcept {
  registry().retire(this_threads_shard);
}

/// What is counted later still, at the end of the thread, goes to the sum of the ended threads.
constinit thread_local sync::detail::AtThreadEnd at_thread_end(&retire_this_threads_shard);

}  // namespace

void add_gauge(Gauge& gauge) noexcept {
  registry().add(gauge);
}

void change_recordings(std::int64_t by) noexcept {
  registry().change_recordings(by);
}

void count_slowly(Change change) noexcept {
  if (!this_threads_shard.is_enlisted() && at_thread_end.ensure()) {
    registry().enlist(this_threads_shard);
    record_for_environment();
  }
  if (this_threads_shard.is_enlisted()) {
    this_threads_shard.add(change.counter, change.value);
  } else {
    registry().add_to_ended(change);
  }
}

}  // namespace detail

Counters snapshot() noexcept {
  if (!BYRE_STATS) {
    return {};
  }
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
      .overlays = of(Counter::overlays),
      .pinned_bytes = of(Counter::pinned_bytes),
  };
}

}  // namespace byre::inline v0::stats
