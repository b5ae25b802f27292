// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/sync/detail/heap_thread_state.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/thread_end.hpp>

#include <utility>

namespace byre::inline BYRE_ABI::stats {

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

#if BYRE_NATIVE_TLS
BYRE_TLS_MODEL constinit thread_local Shard shard_of_thread;
#endif

namespace {

void add_all(Shard& sums, const Shard& shard) noexcept {
  for (std::size_t each = 0; each < counter_count; ++each) {
    const auto counter = static_cast<Counter>(each);
    sums.add(counter, shard.get(counter));
  }
}

/// The shards of the running threads, and the sums of the ended threads. The mutex protects the
/// other members.
struct Registry final : sync::detail::ProcessState {
  Registry() { enter(); }

  /// The other threads do not exist in the child, and the memory of their shards will be reused.
  void in_child() noexcept override {
    Shard* const own = &this_threads_shard();
    for (const Shard* shard = shards; shard != nullptr; shard = shard->next) {
      if (shard != own) {
        add_all(ended, *shard);
      }
    }
    own->next = nullptr;
    shards = own->is_enlisted ? own : nullptr;
  }

  sync::ProcessMutex mutex;
  Shard* shards = nullptr;
  std::int64_t (*pinned_bytes)() noexcept = nullptr;
  std::int64_t listeners = 0;
  Shard ended;
};

Registry& registry() noexcept {
  return sync::no_destructor<Registry>();
}

void enlist(Shard& shard) noexcept {
  Registry& all = registry();
  const sync::ProcessLock lock(all.mutex);
  shard.is_enlisted = true;
  shard.only_counts.set(all.listeners == 0);
  shard.next = std::exchange(all.shards, &shard);
}

void retire(Shard& shard) noexcept {
  Registry& all = registry();
  const sync::ProcessLock lock(all.mutex);
  add_all(all.ended, shard);
  Shard** place = &all.shards;
  while (*place != &shard) {
    place = &(*place)->next;
  }
  *place = shard.next;
  shard.only_counts.set(false);
  shard.is_enlisted = false;
}

#if BYRE_NATIVE_TLS

/// Removes the shard at the end of the thread. Later counts of the thread go to the sums of the
/// ended threads.
constinit thread_local sync::detail::AtThreadEnd at_thread_end([]() noexcept {
  retire(shard_of_thread);
});

/// Whether the end of the thread will remove its shard from the list.
bool may_enlist(const Shard&) noexcept {
  return at_thread_end.ensure_registered();
}

#else

void end_shard(Shard* shard) noexcept {
  if (shard->is_enlisted) {
    retire(*shard);
  }
}
using Shards = sync::detail::HeapThreadState<Shard, end_shard>;

/// Counts of a thread without a shard of its own go to the sums of the ended threads.
constinit Shard no_shard;

bool may_enlist(const Shard& shard) noexcept {
  return &shard != &no_shard;
}

#endif

}  // namespace

void set_source_of_pinned_bytes(std::int64_t (*nbytes)() noexcept) noexcept {
  Registry& all = registry();
  const sync::ProcessLock lock(all.mutex);
  all.pinned_bytes = nbytes;
}

void change_listeners(std::int64_t by) noexcept {
  Registry& all = registry();
  const sync::ProcessLock lock(all.mutex);
  all.listeners += by;
  for (Shard* shard = all.shards; shard != nullptr; shard = shard->next) {
    shard->only_counts.set(all.listeners == 0);
  }
}

#if !BYRE_NATIVE_TLS
Shard& this_threads_shard() noexcept {
  Shard* const shard = sync::no_destructor<Shards>().get_or_make();
  return shard != nullptr ? *shard : no_shard;
}
#endif

void count_slowly(Change change) noexcept {
  Shard& shard = this_threads_shard();
  if (!shard.is_enlisted && may_enlist(shard)) {
    enlist(shard);
    record_for_environment();
  }
  if (shard.is_enlisted) {
    shard.add(change.counter, change.value);
  } else {
    Registry& all = registry();
    const sync::ProcessLock lock(all.mutex);
    all.ended.add(change.counter, change.value);
  }
}

void add_counts(Shard& sums) noexcept {
  Registry& all = registry();
  const sync::ProcessLock lock(all.mutex);
  add_all(sums, all.ended);
  for (const Shard* shard = all.shards; shard != nullptr; shard = shard->next) {
    add_all(sums, *shard);
  }
}

}  // namespace detail

Counters snapshot() noexcept {
  if (!BYRE_STATS) {
    return {};
  }
  detail::Shard sums;
  detail::add_counts(sums);
  detail::Registry& all = detail::registry();
  const auto pinned_bytes = [&all] {
    const sync::ProcessLock lock(all.mutex);
    return all.pinned_bytes;
  }();
  const auto of = [&](Counter counter) { return sums.get(counter); };
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
      .pinned_bytes = pinned_bytes == nullptr ? 0 : pinned_bytes(),
  };
}

}  // namespace byre::inline BYRE_ABI::stats
