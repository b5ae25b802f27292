// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/detail/records.hpp>

#include <chrono>

#if BYRE_STATS

#include <byre/error/error.hpp>
#include <byre/observe/detail/record_log.hpp>

#include <algorithm>
#include <array>
#include <new>

#endif

namespace byre::inline v0::stats::detail {

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

#if BYRE_STATS

namespace {

/// A write that this thread began and that has not been recorded yet: one that another is within, as an allocator's
/// copy may write, or one that failed.
struct Begun {
  const void* of = nullptr;
  std::int64_t ns = 0;
  std::int64_t waits = 0;  ///< that this thread had counted
};
constinit thread_local std::array<Begun, 4> begun_writes{};  // the latest first

std::int64_t waits_of_this_thread() noexcept {
  return this_threads_shard.get(Counter::waits);
}

/// What was begun of this, and is no more; if that was before there was a recording, as if it were now.
Begun end_of_write(const void* of) noexcept {
  const auto found = std::find_if(begun_writes.begin(), begun_writes.end(),
                                  [of](const Begun& each) { return each.of == of; });
  if (of == nullptr || found == begun_writes.end()) {
    return {of, now_ns(), waits_of_this_thread()};
  }
  const Begun begun = *found;
  std::move(found + 1, begun_writes.end(), found);
  begun_writes.back() = {};
  return begun;
}

/// What all records have.
class Event {
 public:
  Event(RecordKind kind, std::size_t nbytes) noexcept : kind_(kind), nbytes_(nbytes) {}
  Event(RecordKind kind, std::size_t nbytes, CallSite site) noexcept
      : kind_(kind), nbytes_(nbytes), site_(site_id(site)) {}

  SiteId site() const noexcept { return site_; }
  void describe(Record& record) const noexcept { describe(record, ns_); }
  void describe(Record& record, std::int64_t begin_ns) const noexcept {
    record.kind = kind_;
    record.begin_ns = begin_ns;
    record.end_ns = ns_;
    record.nbytes = nbytes_;
    record.site = site_;
  }

 private:
  RecordKind kind_;
  std::size_t nbytes_;
  SiteId site_ = 0;
  std::int64_t ns_ = now_ns();
};

Write write_of(const Record& record) noexcept {
  return {record.begin_ns, record.end_ns, record.thread, record.site};
}

/// An arrow to where it began.
Link link_to(const Write& write) noexcept {
  return {write.begin_ns, write.thread, write.site};
}

/// That somebody else has cloned it is why a copy was made.
void is_of_clones(Record& record, const KnownData& data) noexcept {
  if (record.cause == CopyCause::shared || record.cause == CopyCause::pending) {
    record.cloned_at = data.cloned_at;
    record.links_to = data.last_clone;
  }
}

void record_bytes(RecordKind kind, const void* data, std::size_t nbytes) noexcept {
  const Event event(kind, nbytes);
  record_log().add(data, [&](Record& record, KnownData&) { event.describe(record); });
}

/// If this thread has waited since the write began.
void record_wait(const void* data, const Begun& begun, CallSite site) noexcept {
  if (waits_of_this_thread() == begun.waits) {
    return;
  }
  const Event event(RecordKind::wait, 0, site);
  record_log().add(data, [&](Record& record, const KnownData& known) {
    event.describe(record, begun.ns);
    if (known.last_copy.end_ns >= begun.ns) {
      record.links_to = link_to(known.last_copy);
    }
  });
}

}  // namespace

void begin_recording(RecordingRoom& room) noexcept {
  room.begin_ns = now_ns();
  record_log().begin(room);
  add_recording();
}

void end_recording(RecordingRoom& room) noexcept {
  remove_recording();
  record_log().end(room);
}

Records records_of(const RecordingRoom& room) try {
  return record_log().take(room);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("the records of what was copied");
}

std::uint64_t lost_of(const RecordingRoom& room) noexcept {
  return record_log().lost_of(room);
}

ClonedLines lines_that_cloned(const void* data) noexcept {
  return record_log().lines_of(data);
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

void record_pool(RecordKind kind, std::size_t nbytes) noexcept {
  record_bytes(kind, nullptr, nbytes);
}

void record_clone(const void* data, std::size_t nbytes, bool was_alone, CallSite site) noexcept {
  const Event event(RecordKind::clone, nbytes, site);
  record_log().add(data, [&](Record& record, KnownData& known) {
    event.describe(record);
    if (was_alone) {
      known.cloned_at = {};
    }
    add_line(known.cloned_at, event.site());
    known.last_clone = {record.end_ns, record.thread, event.site()};
  });
}

void record_part(const void* whole, const void* part, bool was_alone) noexcept {
  record_log().add_part(whole, part, was_alone);
}

void record_pin(RecordKind kind, const void* data, std::size_t nbytes, CallSite site) noexcept {
  const Event event(kind, nbytes, site);
  record_log().add(data, [&](Record& record, KnownData&) { event.describe(record); });
}

void record_overlay_end(const void* data, std::size_t nbytes, std::size_t written_nbytes) noexcept {
  const Event event(RecordKind::overlay_end, nbytes);
  record_log().add(data, [&](Record& record, KnownData&) {
    event.describe(record);
    record.part_nbytes = written_nbytes;
  });
  forget_data(data);
}

void record_move(const void* from, const void* to) noexcept {
  record_log().move(from, to);
}

void forget_data(const void* data) noexcept {
  record_log().forget(data);
}

void begin_write(const void* of) noexcept {
  end_of_write(of);
  std::move_backward(begun_writes.begin(), begun_writes.end() - 1, begun_writes.end());
  begun_writes.front() = {of, now_ns(), waits_of_this_thread()};
}

void record_wait(const void* data, CallSite site) noexcept {
  record_wait(data, end_of_write(data), site);
}

void record_wait_in_parallel(const void* storage, const void* data, CallSite site) noexcept {
  const Begun begun = end_of_write(storage);
  const Event event(RecordKind::wait, 0, site);
  record_log().add_if(data, [&](Record& record, const KnownData& known) {
    event.describe(record, begun.ns);
    record.links_to = link_to(known.own_since);
    return known.own_since.end_ns >= begun.ns;
  });
}

void record_steal(const void* data, std::size_t nbytes, CallSite site) noexcept {
  const Begun begun = end_of_write(data);
  record_wait(data, begun, site);
  const Event event(RecordKind::steal, nbytes, site);
  record_log().add(data, [&](Record& record, KnownData& known) {
    event.describe(record, begun.ns);
    record.cloned_at = known.cloned_at;
    known.cloned_at = {};
    known.last_clone = {};
    known.own_since = write_of(record);
  });
}

void record_copy(const void* data, const void* copy, std::size_t nbytes, CopyCause cause,
                 CallSite site) noexcept {
  const Begun begun = end_of_write(data);
  record_wait(data, begun, site);
  const Event event(RecordKind::copy, nbytes, site);
  record_log().add(data, [&](Record& record, KnownData& known) {
    event.describe(record, begun.ns);
    record.cause = cause;
    is_of_clones(record, known);
    known.last_copy = write_of(record);
    if (KnownData* const made = record_log().find(copy)) {
      record.other_data = made->number;
      made->own_since = known.last_copy;
    }
  });
}

void record_overlay(const void* overlay, std::size_t nbytes, const void* shown,
                    std::size_t copied_nbytes, CopyCause cause, CallSite site,
                    WrittenNbytes written) noexcept {
  const Begun begun = end_of_write(shown);
  const Event event(RecordKind::overlay, nbytes, site);
  record_log().add(overlay, [&](Record& record, KnownData& known) {
    event.describe(record, begun.ns);
    record.cause = cause;
    record.part_nbytes = copied_nbytes;
    if (const KnownData* const what = record_log().find(shown)) {
      record.other_data = what->number;
      is_of_clones(record, *what);
    }
    known.nbytes = nbytes;
    known.written = written;
    known.own_since = write_of(record);
  });
}

#endif

}  // namespace byre::inline v0::stats::detail
