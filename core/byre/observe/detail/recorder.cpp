// SPDX-License-Identifier: BSL-1.0
#include <byre/config.hpp>

#if BYRE_STATS

#include <byre/observe/detail/observer.hpp>
#include <byre/observe/detail/record_log.hpp>

namespace byre::inline v0::stats::detail {
namespace {

std::int64_t waits_of_this_thread() noexcept {
  return this_threads_shard.get(Counter::waits);
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

WriteBegin write_begin() noexcept {
  return {now_ns(), waits_of_this_thread()};
}

void record_wait(WriteBegin begin, const void* data, CallSite site) noexcept {
  if (begin.ns != 0 && waits_of_this_thread() != begin.waits) {
    add(data, {.kind = RecordKind::wait, .begin_ns = begin.ns}, site,
        [&](Record& record, const KnownData& known) {
          if (known.last_copy.end_ns >= begin.ns) {
            record.links_to = known.last_copy;
          }
        });
  }
}

void record_wait_in_parallel(WriteBegin begin, const void* data, CallSite site) noexcept {
  add(data, {.kind = RecordKind::wait, .begin_ns = begin.ns}, site,
      [&](Record& record, const KnownData& known) {
        const bool has_waited = begin.ns != 0 && known.own_since.end_ns >= begin.ns;
        record.links_to = known.own_since;
        record.thread = has_waited ? record.thread : 0;
      });
}

void record_steal(WriteBegin begin, const void* data, std::size_t nbytes, CallSite site) noexcept {
  record_wait(begin, data, site);
  add(data, {.kind = RecordKind::steal, .begin_ns = begin.ns, .nbytes = nbytes}, site,
      [](Record& record, KnownData& known) {
        record.cloned_at = known.cloned_at;
        known.own_since = link_to(record);
      });
}

void record_copy(WriteBegin begin, const void* data, const void* copy, CopyEvent event) noexcept {
  record_wait(begin, data, event.site);
  add(data,
      {.kind = RecordKind::copy,
       .cause = event.cause,
       .begin_ns = begin.ns,
       .nbytes = event.nbytes},
      event.site, [copy](Record& record, KnownData& known) {
        is_of_clones(record, known);
        known.last_copy = link_to(record);
        if (KnownData* const made = record_log().find(copy)) {
          record.other_data = made->number;
          made->own_since = known.last_copy;
        }
      });
}

void record_overlay(WriteBegin begin, const void* overlay, std::size_t nbytes, const void* shown,
                    CopyEvent event, WrittenNbytes written) noexcept {
  add(overlay,
      {.kind = RecordKind::overlay,
       .cause = event.cause,
       .begin_ns = begin.ns,
       .nbytes = nbytes,
       .part_nbytes = event.nbytes},
      event.site, [&](Record& record, KnownData& known) {
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
