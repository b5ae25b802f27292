// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>
#include <byre/stats/detail/data_table.hpp>
#include <byre/stats/detail/recorder.hpp>
#include <byre/stats/detail/records.hpp>

#if BYRE_STATS

#include <byre/error/error.hpp>
#include <byre/sync/detail/boost_mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#endif

#include <chrono>

namespace byre::inline v0::stats::detail {

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

#if BYRE_STATS

namespace {

/// The number of the calling thread in the recordings of one period, in which there was one all the time.
struct ThisThread {
  std::uint64_t period = 0;
  std::uint32_t number = 0;
  bool is_recording =
      false;  ///< what it does meanwhile is not recorded: the heap may be the user's
  std::int64_t write_begin_ns = 0;
  std::int64_t waits = 0;  ///< counted when that began
};
constinit thread_local ThisThread this_thread;

struct Chunk {
  static constexpr std::size_t most = 256;
  std::unique_ptr<Chunk> before;
  std::size_t count = 0;
  std::array<Record, most> records{};
};

struct Thread {
  std::unique_ptr<Thread> before;
  ThreadName name;
};

/// Made while nothing is locked.
struct Spare {
  DataTable data;  ///< empty, or one
  std::unique_ptr<Chunk> chunk;
  std::unique_ptr<Thread> thread;
};

enum class Lacks : std::uint8_t { nothing, data, chunk, thread };

std::uint64_t system_id_of_this_thread() noexcept {
#if defined(__linux__)
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
  return 0;
#endif
}

std::unique_ptr<Thread> describe_this_thread() {
  auto thread = std::make_unique<Thread>();
  thread->name.system_id = system_id_of_this_thread();
  ::pthread_getname_np(::pthread_self(), thread->name.name.data(), thread->name.name.size());
  return thread;
}

/// One lock for all of it: events are seldom where they cost, and have one order.
class Recorder final : sync::detail::ProcessState {
 public:
  Recorder() { enter(); }

  void begin(std::size_t limit_nbytes) noexcept {
    const sync::ProcessLock lock(mutex_);
    period_ += recordings_ == 0 ? 1 : 0;
    ++recordings_;
    limit_nbytes_ += limit_nbytes;
  }

  void end(std::size_t limit_nbytes) noexcept {
    Kept dropped;  // while nothing is locked
    const sync::ProcessLock lock(mutex_);
    limit_nbytes_ -= limit_nbytes;
    if (--recordings_ == 0) {
      std::swap(dropped, kept_);
    }
  }

  /// Calls `fill(record, known)` for a record of this thread, and appends it; `known` is null for no data. Counts
  /// it as lost if there is no memory.
  template <class Fill>
  void add(const void* data, Fill fill) noexcept {
    add_if(data, [&](Record& record, KnownData* known) {
      fill(record, known);
      return true;
    });
  }
  /// The same, unless `fill` returns false.
  template <class Fill>
  void add_if(const void* data, Fill fill) noexcept {
    provide_for(data, [&](Spare& spare) noexcept { return try_to_add(data, fill, spare); });
  }

  /// What shares its parts: `part` was cloned where `whole` was.
  void add_part(const void* whole, const void* part) noexcept {
    provide_for(part, [&](Spare& spare) noexcept {
      const sync::ProcessLock lock(mutex_);
      const auto found = kept_.data.find(whole);
      if (found == kept_.data.end()) {
        return Lacks::nothing;
      }
      KnownData* const known = find_or_add(part, spare);
      if (known == nullptr) {
        return Lacks::data;
      }
      add_lines_of_whole(known->cloned_at, found->second.cloned_at);
      known->last_clone = found->second.last_clone;
      return Lacks::nothing;
    });
  }

  /// What is known of other data, or null. In `fill`.
  KnownData* find(const void* data) noexcept {
    const auto found = kept_.data.find(data);
    return found == kept_.data.end() ? nullptr : &found->second;
  }

  /// Calls `change(known)` if the data is known.
  template <class Change>
  void change(const void* data, Change change) noexcept {
    const sync::ProcessLock lock(mutex_);
    if (const auto found = kept_.data.find(data); found != kept_.data.end()) {
      change(found->second);
    }
  }

  void forget(const void* data) noexcept {
    DataTable::node_type forgotten;  // ends while nothing is locked
    const sync::ProcessLock lock(mutex_);
    forgotten = kept_.data.extract(data);
  }

  void take(std::int64_t begin_ns, Records& taken) {
    for (std::size_t room = 0, threads = 0;;) {
      taken.records.reserve(room);
      taken.threads.reserve(threads);
      const sync::ProcessLock lock(mutex_);
      room = kept_.count + kept_.data.size();
      threads = kept_.threads == nullptr ? 0 : kept_.threads->name.number;
      if (room <= taken.records.capacity() && threads <= taken.threads.capacity()) {
        copy_to(taken, begin_ns);
        return;
      }
    }
  }

 private:
  struct Kept {
    DataTable data;
    std::unique_ptr<Chunk> chunks;  ///< the last one
    std::unique_ptr<Thread> threads;
    std::size_t count = 0;  ///< of records
    std::uint64_t lost = 0;
    std::uint32_t last_data = 0;

    Kept() noexcept = default;
    Kept(Kept&&) noexcept = default;
    Kept& operator=(Kept&&) noexcept = default;
    ~Kept() {
      while (chunks != nullptr) {  // one by one, since the stack is short
        chunks = std::move(chunks->before);
      }
      while (threads != nullptr) {
        threads = std::move(threads->before);
      }
    }
  };

  /// Calls `try_it(spare)` until it lacks nothing.
  template <class Try>
  void provide_for(const void* data, Try try_it) noexcept {
    if (std::exchange(this_thread.is_recording, true)) {
      return;
    }
    try {
      for (Spare spare;;) {
        const Lacks lacks = try_it(spare);
        if (lacks == Lacks::nothing) {
          break;
        }
        provide(lacks, data, spare);
      }
    } catch (const std::bad_alloc&) {
      const sync::ProcessLock lock(mutex_);
      ++kept_.lost;
    }
    this_thread.is_recording = false;
  }

  /// Null if a new entry lacks its memory.
  KnownData* find_or_add(const void* data, Spare& spare) noexcept {
    auto found = kept_.data.find(data);
    if (found == kept_.data.end()) {
      if (spare.data.empty()) {
        return nullptr;
      }
      found = kept_.data.insert(spare.data.extract(spare.data.begin())).position;
      found->second.number = ++kept_.last_data;
    }
    return &found->second;
  }

  template <class Fill>
  Lacks try_to_add(const void* data, Fill& fill, Spare& spare) noexcept {
    const sync::ProcessLock lock(mutex_);
    if (recordings_ == 0) {
      return Lacks::nothing;
    }
    if ((kept_.count + 1) * sizeof(Record) > limit_nbytes_) {
      ++kept_.lost;
      return Lacks::nothing;
    }
    if (this_thread.period != period_) {
      if (spare.thread == nullptr) {
        return Lacks::thread;
      }
      add_thread(std::move(spare.thread));
    }
    if (kept_.chunks == nullptr || kept_.chunks->count == Chunk::most) {
      if (spare.chunk == nullptr) {
        return Lacks::chunk;
      }
      spare.chunk->before = std::move(kept_.chunks);
      kept_.chunks = std::move(spare.chunk);
    }
    KnownData* known = nullptr;
    if (data != nullptr) {
      known = find_or_add(data, spare);
      if (known == nullptr) {
        return Lacks::data;
      }
    }
    Chunk& chunk = *kept_.chunks;
    Record& record = chunk.records[chunk.count];
    record = Record{};  // of a child it had a record of the parent
    record.thread = this_thread.number;
    record.data = known == nullptr ? 0 : known->number;
    if (fill(record, known)) {
      ++chunk.count;
      ++kept_.count;
    }
    return Lacks::nothing;
  }

  void provide(Lacks lacks, const void* data, Spare& spare) {
    switch (lacks) {
      case Lacks::data:
        spare.data.try_emplace(data);
        break;
      case Lacks::chunk:
        spare.chunk = std::make_unique<Chunk>();
        break;
      case Lacks::thread:
        spare.thread = describe_this_thread();
        break;
      case Lacks::nothing:
        break;
    }
  }

  void add_thread(std::unique_ptr<Thread> thread) noexcept {
    thread->name.number = kept_.threads == nullptr ? 1 : kept_.threads->name.number + 1;
    this_thread.period = period_;
    this_thread.number = thread->name.number;
    thread->before = std::move(kept_.threads);
    kept_.threads = std::move(thread);
  }

  /// With room for all.
  void copy_to(Records& taken, std::int64_t begin_ns) const noexcept {
    taken.lost = kept_.lost;
    for (const Chunk* chunk = kept_.chunks.get(); chunk != nullptr; chunk = chunk->before.get()) {
      for (std::size_t index = chunk->count; index-- != 0;) {
        if (chunk->records[index].end_ns >= begin_ns) {
          Record& record = taken.records.emplace_back(chunk->records[index]);
          record.begin_ns = std::max(record.begin_ns, begin_ns);
        }
      }
    }
    std::reverse(taken.records.begin(), taken.records.end());
    for (const auto& [address, known] : kept_.data) {
      if (known.written != nullptr) {
        Record& record = taken.records.emplace_back();
        record.kind = RecordKind::overlay_end;
        record.is_alive = true;
        record.data = known.number;
        record.begin_ns = record.end_ns = now_ns();
        record.nbytes = known.nbytes;
        record.part_nbytes = known.written(address, known.nbytes);
      }
    }
    for (const Thread* each = kept_.threads.get(); each != nullptr; each = each->before.get()) {
      taken.threads.push_back(each->name);
    }
  }

  /// What the other threads did is the parent's to show.
  void in_child() noexcept override {
    for (Chunk* chunk = kept_.chunks.get(); chunk != nullptr; chunk = chunk->before.get()) {
      chunk->count = 0;
    }
    kept_.count = 0;
    kept_.lost = 0;
  }

  sync::ProcessMutex mutex_;
  Kept kept_;
  std::size_t limit_nbytes_ = 0;
  std::uint64_t period_ = 0;  ///< in which there is a recording all the time
  std::uint32_t recordings_ = 0;
};

Recorder& recorder() noexcept {
  return sync::no_destructor<Recorder>();
}

void is_own_since(KnownData& known, const Record& write) noexcept {
  known.own_since = {write.end_ns, write.thread, write.site};
  known.own_begin_ns = write.begin_ns;
}

/// Of the latest one of this thread, or `now` if that began before there was a recording.
std::int64_t begin_of_write(std::int64_t now) noexcept {
  return this_thread.write_begin_ns == 0 ? now : this_thread.write_begin_ns;
}

void record_bytes(RecordKind kind, const void* data, std::size_t nbytes) noexcept {
  const std::int64_t now = now_ns();
  recorder().add(data, [&](Record& record, KnownData*) {
    record.kind = kind;
    record.begin_ns = record.end_ns = now;
    record.nbytes = nbytes;
  });
}

}  // namespace

void begin_recording(std::size_t limit_nbytes) noexcept {
  recorder().begin(limit_nbytes);
  add_recording();
}

void end_recording(std::size_t limit_nbytes) noexcept {
  remove_recording();
  recorder().end(limit_nbytes);
}

Records records_since(std::int64_t begin_ns) try {
  Records taken;
  recorder().take(begin_ns, taken);
  return taken;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the records of what was copied");
}

ClonedLines lines_that_cloned(const void* data) noexcept {
  ClonedLines lines{};
  recorder().change(data, [&lines](const KnownData& known) { lines = known.cloned_at; });
  return lines;
}

void count_allocation(const void* data, std::size_t nbytes) noexcept {
  count_slowly(plus(Counter::live_bytes, nbytes));
  record_bytes(RecordKind::allocation, data, nbytes);
}

void count_release(const void* data, std::size_t nbytes) noexcept {
  count_slowly(minus(Counter::live_bytes, nbytes));
  record_bytes(RecordKind::release, data, nbytes);
  forget_data(data);
}

void record_clone(const void* data, std::size_t nbytes, bool was_alone, CallSite site) noexcept {
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(data, [&](Record& record, KnownData* known) {
    record.kind = RecordKind::clone;
    record.begin_ns = record.end_ns = now;
    record.nbytes = nbytes;
    record.site = at;
    if (was_alone) {
      known->cloned_at = {};
    }
    add_line(known->cloned_at, at);
    known->last_clone = {now, record.thread, at};
  });
}

void record_pin(RecordKind kind, const void* data, std::size_t nbytes, CallSite site) noexcept {
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(data, [&](Record& record, KnownData*) {
    record.kind = kind;
    record.begin_ns = record.end_ns = now;
    record.nbytes = nbytes;
    record.site = at;
  });
}

void record_pool(RecordKind kind, std::size_t nbytes) noexcept {
  record_bytes(kind, nullptr, nbytes);
}

void record_overlay_end(const void* data, std::size_t nbytes, std::size_t written_nbytes) noexcept {
  const std::int64_t now = now_ns();
  recorder().add(data, [&](Record& record, KnownData* known) {
    record.kind = RecordKind::overlay_end;
    record.begin_ns = record.end_ns = now;
    record.nbytes = nbytes;
    record.part_nbytes = written_nbytes;
    known->written = nullptr;
  });
  forget_data(data);
}

void record_part(const void* whole, const void* part) noexcept {
  recorder().add_part(whole, part);
}

void forget_data(const void* data) noexcept {
  recorder().forget(data);
}

void begin_write() noexcept {
  this_thread.write_begin_ns = now_ns();
  this_thread.waits = this_threads_shard.get(Counter::waits);
}

void record_wait(const void* data, CallSite site) noexcept {
  const std::int64_t waits = this_threads_shard.get(Counter::waits);
  if (this_thread.waits == waits) {
    return;
  }
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(data, [&](Record& record, const KnownData* known) {
    record.kind = RecordKind::wait;
    record.begin_ns = begin_of_write(now);
    record.end_ns = now;
    record.site = at;
    if (known->last_copy.ns >= record.begin_ns) {
      record.links_to = known->last_copy;
      record.links_to.ns = known->last_copy_begin_ns;
    }
  });
}

void record_wait_in_parallel(const void* data, CallSite site) noexcept {
  const std::int64_t now = now_ns();
  const std::int64_t begin_ns = begin_of_write(now);
  const SiteId at = site_id(site);
  recorder().add_if(data, [&](Record& record, const KnownData* known) {
    if (known->own_since.ns < begin_ns) {
      return false;
    }
    record.kind = RecordKind::wait;
    record.begin_ns = begin_ns;
    record.end_ns = now;
    record.site = at;
    record.links_to = known->own_since;
    record.links_to.ns = known->own_begin_ns;
    return true;
  });
}

void record_steal(const void* data, std::size_t nbytes, CallSite site) noexcept {
  record_wait(data, site);
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(data, [&](Record& record, KnownData* known) {
    record.kind = RecordKind::steal;
    record.begin_ns = begin_of_write(now);
    record.end_ns = now;
    record.nbytes = nbytes;
    record.site = at;
    record.cloned_at = known->cloned_at;
    known->cloned_at = {};
    known->last_clone = {};
    is_own_since(*known, record);
  });
}

void record_copy(const void* data, const void* copy, std::size_t nbytes, CopyCause cause,
                 CallSite site) noexcept {
  record_wait(data, site);
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(data, [&](Record& record, KnownData* known) {
    record.kind = RecordKind::copy;
    record.begin_ns = begin_of_write(now);
    record.end_ns = now;
    record.nbytes = nbytes;
    record.site = at;
    record.cause = cause;
    record.cloned_at = known->cloned_at;
    record.links_to = known->last_clone;
    known->last_copy = {now, record.thread, at};
    known->last_copy_begin_ns = record.begin_ns;
    if (KnownData* const made = recorder().find(copy)) {
      record.other_data = made->number;
      is_own_since(*made, record);
    }
  });
}

void record_overlay(const void* overlay, std::size_t nbytes, const void* shown,
                    std::size_t copied_nbytes, CopyCause cause, CallSite site,
                    WrittenNbytes written) noexcept {
  const std::int64_t now = now_ns();
  const SiteId at = site_id(site);
  recorder().add(overlay, [&](Record& record, KnownData* known) {
    record.kind = RecordKind::overlay;
    record.begin_ns = begin_of_write(now);
    record.end_ns = now;
    record.nbytes = nbytes;
    record.part_nbytes = copied_nbytes;
    record.site = at;
    record.cause = cause;
    if (const KnownData* const what = recorder().find(shown)) {
      record.other_data = what->number;
      record.cloned_at = what->cloned_at;
      record.links_to = what->last_clone;
    }
    known->nbytes = nbytes;
    known->written = written;
    is_own_since(*known, record);
  });
}

#endif

}  // namespace byre::inline v0::stats::detail
