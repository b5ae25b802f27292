// SPDX-License-Identifier: BSL-1.0
/// The log stores the records of all recordings under one lock, which gives all events one order;
/// recorded events are rare or slow, so the lock is affordable. Memory is allocated and freed
/// without the lock.
#pragma once

#include <byre/observe/detail/records.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::stats::detail {

/// The log's entry for the data at an address: the lines that cloned the data, the writes that
/// other threads may wait for, and the properties of an overlay.
struct KnownData {
  std::uint32_t number = 0;
  ClonedLines cloned_at{};
  Link last_clone;
  Link last_copy;                   ///< the last copy of this data
  Link own_since;                   ///< the write that made this data unique
  std::size_t nbytes = 0;           ///< size of an overlay
  WrittenNbytes written = nullptr;  ///< counts the written bytes of an overlay; null for other data
};

/// Map and list entries, which own heap memory. Used for the entries of the log, for spare memory
/// of new entries, and for dropped entries.
struct LogEntries {
  std::map<const void*, KnownData> data;
  std::list<ThreadName> threads;
};

/// The log's data about the calling thread.
struct ThreadOfLog {
  std::uint64_t period = 0;  ///< the period (see Log::period) that `number` belongs to
  std::uint32_t number = 0;  ///< 0: the thread has no number yet in this period
  /// True while the thread records an event or allocates an entry of the ledger. Nested events are
  /// ignored: a user's operator new may use byre.
  bool is_recording = false;
};
extern constinit thread_local ThreadOfLog thread_of_log;

/// The time of the steady clock.
std::int64_t now_ns() noexcept;

/// The log of the process. Its members must be used under its mutex.
struct Log final : sync::detail::ProcessState {
  Log() { enter(); }

  KnownData* find(const void* address) noexcept {
    const auto found = entries.data.find(address);
    return found == entries.data.end() ? nullptr : &found->second;
  }
  /// Returns null if a new entry is needed and `spare` has none.
  KnownData* find_or_add(const void* address, LogEntries& spare) noexcept {
    KnownData* known = find(address);
    if (known == nullptr && !spare.data.empty()) {
      known = &entries.data.insert(spare.data.extract(spare.data.begin())).position->second;
      known->number = ++last_data;
    }
    return known;
  }

  /// Assigns a number to the thread. Returns false if `spare` has no entry for its name.
  bool enlist_this_thread(LogEntries& spare) noexcept {
    if (std::exchange(thread_of_log.period, period) != period) {
      thread_of_log.number = 0;
    }
    if (thread_of_log.number == 0 && !spare.threads.empty()) {
      thread_of_log.number = static_cast<std::uint32_t>(entries.threads.size() + 1);
      spare.threads.front().number = thread_of_log.number;
      entries.threads.splice(entries.threads.end(), spare.threads);
    }
    return thread_of_log.number != 0;
  }

  static bool has_room(const ActiveRecording& recording) noexcept {
    return recording.records.size() < recording.records.capacity();
  }
  bool any_has_room() const noexcept {
    for (const ActiveRecording& recording : recordings) {
      if (has_room(recording)) {
        return true;
      }
    }
    return false;
  }
  /// Appends the record to each recording that has room, and counts it as lost in the others. If
  /// `record` is null, the event counts as lost in all recordings.
  void append(const Record* record) noexcept {
    for (ActiveRecording& recording : recordings) {
      if (record == nullptr || !has_room(recording)) {
        ++recording.lost;
        continue;
      }
      Record& added = recording.records.emplace_back(*record);
      added.begin_ns = std::max(record->begin_ns, recording.begin_ns);
      added.end_ns = std::max(record->end_ns, recording.begin_ns);
    }
  }

  /// Empties the recordings, because the parent reports its own events, and the parent's other
  /// threads do not exist in the child.
  void in_child() noexcept override {
    LogEntries dropped;
    std::swap(dropped, entries);
    ++period;
    for (ActiveRecording& recording : recordings) {
      recording.records.clear();
      recording.lost = 0;
      recording.begin_ns = now_ns();
    }
  }

  sync::ProcessMutex mutex;
  byre::detail::IntrusiveList<ActiveRecording> recordings;
  RelaxedFlag has_recordings;  ///< whether `recordings` is not empty; may be read without the mutex
  LogEntries entries;
  /// The number of the current period. A period begins if a recording begins while there is no
  /// other recording, and in a forked child. Threads are numbered anew in each period.
  std::uint64_t period = 0;
  std::uint32_t last_data = 0;
};

Log& the_log() noexcept;

/// Adds spare entries for `data`, and for this thread if it has no number. May throw
/// std::bad_alloc.
void add_spare_memory(const void* data, LogEntries& spare);

/// Gives this thread a number, and calls `act(log, known)` under the lock. `known` is the log's
/// entry for `data`, an empty entry if `data` is null, or null if no recording has room. Does
/// nothing if there is no recording: then only the ledger needs the event.
template <class Act>
void with_known(const void* data, Act act) noexcept {
  Log& log = the_log();
  if (!log.has_recordings.is_set() || std::exchange(thread_of_log.is_recording, true)) {
    return;
  }
  try {
    for (LogEntries spare;; add_spare_memory(data, spare)) {
      const sync::ProcessLock lock(log.mutex);
      if (!log.any_has_room()) {
        act(log, nullptr);
        break;
      }
      KnownData no_data;
      KnownData* const known = data == nullptr ? &no_data : log.find_or_add(data, spare);
      if (known != nullptr && log.enlist_this_thread(spare)) {
        act(log, known);
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    const sync::ProcessLock lock(log.mutex);
    log.append(nullptr);
  }
  thread_of_log.is_recording = false;
}

/// Adds a record that ends now. Calls `fill(record, known)` first, which may drop the record by
/// setting its thread to 0. The call site and the time are determined before the lock is taken.
template <class Fill>
void add(const void* data, Record record, CallSite site, Fill fill) noexcept {
  if (!the_log().has_recordings.is_set()) {
    return;
  }
  record.site = site.line == 0 ? SiteId{0} : site_id(site);
  record.end_ns = now_ns();
  record.begin_ns = record.begin_ns == 0 ? record.end_ns : record.begin_ns;
  with_known(data, [&](Log& log, KnownData* known) noexcept {
    if (known != nullptr) {
      record.thread = thread_of_log.number;
      record.data = known->number;
      fill(record, *known);
    }
    if (known == nullptr || record.thread != 0) {
      log.append(&record);
    }
  });
}

}  // namespace byre::inline BYRE_ABI::stats::detail
