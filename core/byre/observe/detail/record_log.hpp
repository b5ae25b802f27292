// SPDX-License-Identifier: BSL-1.0
/// The log has the records of all recordings, under one lock: events are seldom where they cost,
/// and so have one order. Memory is allocated and freed while nothing is locked.
#pragma once

#include <byre/observe/detail/records.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <new>
#include <utility>

namespace byre::inline v0::stats::detail {

/// The log's knowledge of data at an address: the lines that cloned it, the writes that other
/// threads may wait for, and whether it is an overlay.
struct KnownData {
  std::uint32_t number = 0;
  ClonedLines cloned_at{};
  Link last_clone;
  Link last_copy;                   ///< of this data
  Link own_since;                   ///< the write that gave this data to one owner alone
  std::size_t nbytes = 0;           ///< of an overlay
  WrittenNbytes written = nullptr;  ///< of an overlay
};

/// What takes memory: what the log keeps; what is spare for a new entry; what is dropped.
struct LogEntries {
  std::map<const void*, KnownData> data;
  std::list<ThreadName> threads;
};

/// What the log knows of the calling thread.
struct ThreadOfLog {
  std::uint64_t period = 0;  ///< in which its number was given
  std::uint32_t number = 0;  ///< 0: it has none in this period
  /// The thread's events are not recorded meanwhile: operator new may be the user's, and use byre.
  bool is_recording = false;
};
extern constinit thread_local ThreadOfLog thread_of_log;

/// The time by the steady clock.
std::int64_t now_ns() noexcept;

/// Its members are used under its lock.
struct Log final : sync::detail::ProcessState {
  Log() { enter(); }

  KnownData* find(const void* address) noexcept {
    const auto found = entries.data.find(address);
    return found == entries.data.end() ? nullptr : &found->second;
  }
  /// Null if a new entry lacks its memory.
  KnownData* find_or_add(const void* address, LogEntries& spare) noexcept {
    KnownData* known = find(address);
    if (known == nullptr && !spare.data.empty()) {
      known = &entries.data.insert(spare.data.extract(spare.data.begin())).position->second;
      known->number = ++last_data;
    }
    return known;
  }

  /// Gives the thread a number. False if its name lacks its memory.
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
    return std::any_of(recordings.begin(), recordings.end(), has_room);
  }
  /// Adds it to each recording that has room. Null is lost by all.
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

  /// The parent shows its records, and its other threads do not exist in a child.
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
  boost::intrusive::list<ActiveRecording> recordings;
  LogEntries entries;
  std::uint64_t period = 0;  ///< in which there is a recording all the time
  std::uint32_t last_data = 0;
};

Log& the_log() noexcept;

/// More spare memory, for an entry of data or of this thread. Throws std::bad_alloc.
void add_spare_memory(const void* data, LogEntries& spare);

/// Calls `act(log, known)` under the lock, after this thread got a number. `known` belongs to
/// `data`. It is empty if `data` is null, and null if no recording has room.
template <class Act>
void with_known(const void* data, Act act) noexcept {
  if (std::exchange(thread_of_log.is_recording, true)) {
    return;
  }
  Log& log = the_log();
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

/// Adds a record that ends now, after `fill(record, known)`, which may drop it by setting its
/// thread to 0. Its line and its time are taken while nothing is locked.
template <class Fill>
void add(const void* data, Record record, CallSite site, Fill fill) noexcept {
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

}  // namespace byre::inline v0::stats::detail
