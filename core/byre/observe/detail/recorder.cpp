// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>

#if BYRE_STATS

#include <byre/observe/detail/observer.hpp>
#include <byre/observe/detail/record_log.hpp>

#include <algorithm>
#include <array>

namespace byre::inline v0::stats::detail {
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

constexpr auto nothing_else = [](const Record&, const KnownData&) noexcept {};

/// Adds a record that ends now. Its line and its time are taken while nothing is locked.
template <class Fill>
void add(const void* data, Record record, CallSite site, Fill fill) noexcept {
  record.site = site.line == 0 ? SiteId{0} : site_id(site);
  record.end_ns = now_ns();
  record.begin_ns = record.begin_ns == 0 ? record.end_ns : record.begin_ns;
  record_log().add(data, record, fill);
}

Link link_to(const Record& record) noexcept {
  return {record.begin_ns, record.end_ns, record.thread, record.site};
}

/// That somebody else has cloned it is why a copy was made.
void is_of_clones(Record& record, const KnownData& data) noexcept {
  if (record.cause == CopyCause::shared || record.cause == CopyCause::pending) {
    record.cloned_at = data.cloned_at;
    record.links_to = data.last_clone;
  }
}

/// If this thread has waited since the write began.
void record_wait(const void* data, const Begun& begun, CallSite site) noexcept {
  if (waits_of_this_thread() != begun.waits) {
    add(data, {.kind = RecordKind::wait, .begin_ns = begun.ns}, site,
        [&](Record& record, const KnownData& known) {
          if (known.last_copy.end_ns >= begun.ns) {
            record.links_to = known.last_copy;
          }
        });
  }
}

}  // namespace

ClonedLines lines_that_cloned(const void* data) noexcept {
  return record_log().lines_of(data);
}

void record(RecordKind kind, const void* data, std::size_t nbytes, CallSite site,
            std::size_t part_nbytes) noexcept {
  add(data, {.kind = kind, .nbytes = nbytes, .part_nbytes = part_nbytes}, site, nothing_else);
  if (kind == RecordKind::release || kind == RecordKind::overlay_end) {
    forget_data(data);
  }
}

void count_allocation(const void* data, std::size_t nbytes) noexcept {
  count_slowly(plus(Counter::live_bytes, nbytes));
  record(RecordKind::allocation, data, nbytes);
}
void count_release(const void* data, std::size_t nbytes) noexcept {
  count_slowly(minus(Counter::live_bytes, nbytes));
  record(RecordKind::release, data, nbytes);
}

void record_clone(const void* data, std::size_t nbytes, bool was_alone, CallSite site) noexcept {
  add(data, {.kind = RecordKind::clone, .nbytes = nbytes}, site,
      [&](const Record& record, KnownData& known) {
        if (was_alone) {
          known.cloned_at = {};
        }
        add_line(known.cloned_at, record.site);
        known.last_clone = link_to(record);
      });
}

void record_part(const void* whole, const void* part, bool was_alone) noexcept {
  record_log().add_part(whole, part, was_alone);
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
  add(data, {.kind = RecordKind::wait, .begin_ns = begun.ns}, site,
      [&](Record& record, const KnownData& known) {
        record.links_to = known.own_since;
        record.thread = known.own_since.end_ns >= begun.ns ? record.thread : 0;
      });
}

void record_steal(const void* data, std::size_t nbytes, CallSite site) noexcept {
  const Begun begun = end_of_write(data);
  record_wait(data, begun, site);
  add(data, {.kind = RecordKind::steal, .begin_ns = begun.ns, .nbytes = nbytes}, site,
      [](Record& record, KnownData& known) {
        record.cloned_at = known.cloned_at;
        known.cloned_at = {};
        known.last_clone = {};
        known.own_since = link_to(record);
      });
}

void record_copy(const void* data, const void* copy, std::size_t nbytes, CopyCause cause,
                 CallSite site) noexcept {
  const Begun begun = end_of_write(data);
  record_wait(data, begun, site);
  add(data, {.kind = RecordKind::copy, .cause = cause, .begin_ns = begun.ns, .nbytes = nbytes},
      site, [copy](Record& record, KnownData& known) {
        is_of_clones(record, known);
        known.last_copy = link_to(record);
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
  add(overlay,
      {.kind = RecordKind::overlay,
       .cause = cause,
       .begin_ns = begun.ns,
       .nbytes = nbytes,
       .part_nbytes = copied_nbytes},
      site, [&](Record& record, KnownData& known) {
        if (const KnownData* const what = record_log().find(shown)) {
          record.other_data = what->number;
          is_of_clones(record, *what);
        }
        known.nbytes = nbytes;
        known.written = written;
        known.own_since = link_to(record);
      });
}

}  // namespace byre::inline v0::stats::detail

#endif
