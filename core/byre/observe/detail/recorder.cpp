// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/detail/record_log.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/process.hpp>

#include <chrono>
#include <iterator>

namespace byre::inline BYRE_ABI::stats::detail {

constinit thread_local ThreadOfLog thread_of_log;

namespace {

constexpr auto fill_nothing = [](const Record&, const KnownData&) noexcept {};

Link link_to(const Record& record) noexcept {
  return {record.begin_ns, record.end_ns, record.thread, record.site};
}

/// If the recorded copy was made because `data` was cloned, links the record to the clones.
void link_to_clones(Record& record, const KnownData& data) noexcept {
  if (record.cause == CopyCause::shared || record.cause == CopyCause::pending) {
    record.cloned_at = data.cloned_at;
    record.links_to = data.last_clone;
  }
}

}  // namespace

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

Log& the_log() noexcept {
  return sync::no_destructor<Log>();
}

void add_spare_memory(const void* data, LogEntries& spare) {
  spare.data.try_emplace(data);
  if (thread_of_log.number == 0 && spare.threads.empty()) {
    ThreadName& thread = spare.threads.emplace_back();
    thread.system_id = system::thread_id();
    system::write_thread_name(thread.name.data(), thread.name.size());
  }
}

void begin_recording(ActiveRecording& recording) noexcept {
  Log& log = the_log();
  {
    const sync::ProcessLock lock(log.mutex);
    if (log.recordings.is_empty()) {
      ++log.period;
    }
    recording.begin_ns = now_ns();
    log.recordings.push_back(recording);
    log.has_recordings.set(true);
  }
  ledger::begin_recording();
}

void end_recording(ActiveRecording& recording) noexcept {
  ledger::end_recording();
  Log& log = the_log();
  LogEntries dropped;
  const sync::ProcessLock lock(log.mutex);
  log.recordings.remove(recording);
  if (log.recordings.is_empty()) {
    log.has_recordings.set(false);
    std::swap(dropped, log.entries);
  }
}

std::uint64_t lost_by(const ActiveRecording& recording) noexcept {
  const sync::ProcessLock lock(the_log().mutex);
  return recording.lost;
}

Records records_of(const ActiveRecording& recording) {
  Log& log = the_log();
  Records taken;
  std::vector<std::pair<const void*, KnownData>> overlays;
  for (std::size_t records = 0, threads = 0, data = 0;;) {
    taken.records.reserve(records + data);
    taken.threads.reserve(threads);
    overlays.reserve(data);
    const sync::ProcessLock lock(log.mutex);
    data = log.entries.data.size();
    records = recording.records.size();
    threads = log.entries.threads.size();
    if (records + data <= taken.records.capacity() && threads <= taken.threads.capacity() &&
        data <= overlays.capacity()) {
      taken.begin_ns = recording.begin_ns;
      taken.lost = recording.lost;
      taken.records.assign(recording.records.begin(), recording.records.end());
      taken.threads.assign(log.entries.threads.begin(), log.entries.threads.end());
      std::copy_if(log.entries.data.begin(), log.entries.data.end(), std::back_inserter(overlays),
                   [](const auto& each) { return each.second.written != nullptr; });
      break;
    }
  }
  // The lock is released now, so an overlay may be destroyed meanwhile. `written` is correct
  // nevertheless, because it does not read the memory of the overlay.
  for (const auto& [address, known] : overlays) {
    const std::int64_t now = now_ns();
    taken.records.push_back({.kind = RecordKind::overlay_end,
                             .is_alive = true,
                             .data = known.number,
                             .begin_ns = now,
                             .end_ns = now,
                             .nbytes = known.nbytes,
                             .part_nbytes = known.written(address, known.nbytes)});
  }
  taken.after = snapshot();
  return taken;
}

ClonedLines lines_that_cloned_data(const void* data) noexcept {
  Log& log = the_log();
  const sync::ProcessLock lock(log.mutex);
  const KnownData* const known = log.find(data);
  return known == nullptr ? ClonedLines{} : known->cloned_at;
}

void record(RecordKind kind, const void* data, std::size_t nbytes, CallSite site,
            std::size_t part_nbytes) noexcept {
  add(data, {.kind = kind, .nbytes = nbytes, .part_nbytes = part_nbytes}, site, fill_nothing);
  if (kind == RecordKind::release || kind == RecordKind::overlay_end) {
    forget_data(data);
  }
}

void record_memory(RecordKind kind, const DataFacts& data, std::size_t nbytes) noexcept {
  if (kind == RecordKind::allocation) {
    count_slowly(plus(Counter::live_bytes, nbytes));
    ledger::add(data);
  } else {
    count_slowly(minus(Counter::live_bytes, nbytes));
    ledger::remove(data.header);
  }
  record(kind, data.data, nbytes);
}

void record_clone(const DataFacts& data, std::size_t nbytes, bool was_unique,
                  CallSite site) noexcept {
  ledger::add_clone(data, was_unique);
  add(data.data, {.kind = RecordKind::clone, .nbytes = nbytes}, site,
      [&](const Record& record, KnownData& known) {
        if (was_unique) {
          known.cloned_at = {};
        }
        add_line(known.cloned_at, record.site);
        known.last_clone = link_to(record);
      });
}

void record_part(const void* whole, const DataFacts& part, bool was_unique) noexcept {
  ledger::add_part(whole, part, was_unique);
  with_known(part.data, [=](Log& log, KnownData* known) noexcept {
    const KnownData* const of_whole = log.find(whole);
    if (known != nullptr && of_whole != nullptr) {
      if (was_unique) {
        known->cloned_at = {};
      }
      add_lines_of_whole(known->cloned_at, of_whole->cloned_at);
      known->last_clone = of_whole->last_clone;
    }
  });
}

void record_move(const void* from, const void* to) noexcept {
  Log& log = the_log();
  decltype(LogEntries::data)::insert_return_type inserted;  // destroyed without the lock
  const sync::ProcessLock lock(log.mutex);
  auto known = log.entries.data.extract(from);
  if (!known.empty()) {
    known.key() = to;
    inserted = log.entries.data.insert(std::move(known));
  }
}

void forget_data(const void* data) noexcept {
  Log& log = the_log();
  if (!log.has_recordings.is_set()) {
    return;
  }
  decltype(LogEntries::data)::node_type forgotten;  // destroyed without the lock
  const sync::ProcessLock lock(log.mutex);
  forgotten = log.entries.data.extract(data);
}

void WriteReport::record_begin() noexcept {
  begin_ns_ = now_ns();
  begin_waits_ = this_threads_shard().get(Counter::waits);
}

void WriteReport::record_wait(const void* data, CallSite site, bool in_parallel) const noexcept {
  if (begin_ns_ == 0 ||
      (!in_parallel && this_threads_shard().get(Counter::waits) == begin_waits_)) {
    return;
  }
  add(data, {.kind = RecordKind::wait, .begin_ns = begin_ns_}, site,
      [&](Record& record, const KnownData& known) {
        const Link& write = in_parallel ? known.own_since : known.last_copy;
        if (write.end_ns >= begin_ns_) {
          record.links_to = write;
        } else if (in_parallel) {
          record.thread = 0;  // drops the record: the data was unique before the wait
        }
      });
}

void WriteReport::record_steal(const void* data, std::size_t nbytes, CallSite site) const noexcept {
  record_wait(data, site, false);
  add(data, {.kind = RecordKind::steal, .begin_ns = begin_ns_, .nbytes = nbytes}, site,
      [](Record& record, KnownData& known) {
        record.cloned_at = known.cloned_at;
        known.own_since = link_to(record);
      });
}

void WriteReport::record_copy(const DataFacts& source, const DataFacts& copy,
                              const CopyEvent& event) const noexcept {
  ledger::inherit(source, copy,
                  event.cause == CopyCause::shared    ? ledger::AfterCopy::left
                  : event.cause == CopyCause::resized ? ledger::AfterCopy::released
                                                      : ledger::AfterCopy::kept);
  record_wait(source.data, event.site, false);
  add(source.data,
      {.kind = RecordKind::copy,
       .cause = event.cause,
       .begin_ns = begin_ns_,
       .nbytes = event.nbytes},
      event.site, [&](Record& record, KnownData& known) {
        link_to_clones(record, known);
        known.last_copy = link_to(record);
        if (KnownData* const made = the_log().find(copy.data)) {
          record.other_data = made->number;
          made->own_since = known.last_copy;
        }
      });
}

void WriteReport::record_overlay(const DataFacts& overlay, const DataFacts& shown,
                                 const CopyEvent& event, WrittenNbytes written) const noexcept {
  ledger::inherit(
      shown, overlay,
      event.cause == CopyCause::shared ? ledger::AfterCopy::left : ledger::AfterCopy::kept);
  add(overlay.data,
      {.kind = RecordKind::overlay,
       .cause = event.cause,
       .begin_ns = begin_ns_,
       .nbytes = overlay.nbytes,
       .part_nbytes = event.nbytes},
      event.site, [&](Record& record, KnownData& known) {
        if (const KnownData* const what = the_log().find(shown.data)) {
          record.other_data = what->number;
          link_to_clones(record, *what);
        }
        known.nbytes = overlay.nbytes;
        known.written = written;
        known.own_since = link_to(record);
      });
}

}  // namespace byre::inline BYRE_ABI::stats::detail
