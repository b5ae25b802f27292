// SPDX-License-Identifier: BSL-1.0
/// The records of all recordings, under one lock: events are seldom where they cost, and so have one order. What takes
/// memory is made while nothing is locked, and ends so.
#pragma once

#include <byre/observe/detail/records.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <list>
#include <map>
#include <new>
#include <utility>

namespace byre::inline v0::stats::detail {

/// The time by the steady clock.
std::int64_t now_ns() noexcept;

/// The log's knowledge of data at an address: the lines that cloned it, the writes that other threads may wait for, and
/// whether it is an overlay.
struct KnownData {
  std::uint32_t number = 0;
  ClonedLines cloned_at{};
  Link last_clone;
  Link last_copy;                   ///< of this data
  Link own_since;                   ///< the write that gave this data to one owner alone
  std::size_t nbytes = 0;           ///< of an overlay
  WrittenNbytes written = nullptr;  ///< of an overlay
};

/// Counts a line, and puts it first in `lines`; the last one goes where there are too many.
void add_line(ClonedLines& lines, SiteId site, std::uint32_t count = 1) noexcept;

/// Adds the lines of a whole to those of its part.
void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept;

/// One recording. It belongs to the log from begin() until end(), which adds records up to their capacity. A child of a
/// fork begins it again, without the records of its parent.
struct RecordingRoom : Records {
  RecordingRoom* next = nullptr;
};

/// What the log knows of the calling thread.
struct ThreadOfLog {
  std::uint64_t period = 0;  ///< in which its number was given
  std::uint32_t number = 0;  ///< 0: it has none in this period
  /// The thread's events are not recorded meanwhile: operator new may be the user's, and use byre.
  bool is_recording = false;
};
extern constinit thread_local ThreadOfLog thread_of_log;

class RecordLog final : sync::detail::ProcessState {
 public:
  RecordLog() { enter(); }

  /// There may be any number of recordings at once.
  void begin(RecordingRoom& room) noexcept;
  void end(RecordingRoom& room) noexcept;
  /// Throws std::bad_alloc.
  Records take(const RecordingRoom& room);
  std::uint64_t lost_of(const RecordingRoom& room) noexcept;

  /// Adds a record of this thread to each recording that has room, after `fill(record, known)`, which may drop it by
  /// setting its thread to 0. `known` belongs to `data`; if that is null,
  /// it is empty.
  template <class Fill>
  void add(const void* data, Record record, Fill fill) noexcept {
    with_memory_for(data, [&](Parts& spare) noexcept {
      const sync::ProcessLock lock(mutex_);
      record.thread = thread_of_log.number;
      if (any_has_room()) {
        KnownData nobody;
        KnownData* const known = data == nullptr ? &nobody : find_or_add(data, spare);
        if (known == nullptr || !enlist_this_thread(spare)) {
          return false;
        }
        record.thread = thread_of_log.number;
        record.data = known->number;
        fill(record, *known);
        if (record.thread == 0) {
          return true;
        }
      }
      keep(record);
      return true;
    });
  }

  /// What shares its parts: `part` was cloned where `whole` was; `was_alone` before that.
  void add_part(const void* whole, const void* part, bool was_alone) noexcept;
  void move(const void* from, const void* to) noexcept;
  void forget(const void* data) noexcept;
  ClonedLines lines_of(const void* data) noexcept;

  /// What is known of other data, or null. In `fill`.
  KnownData* find(const void* data) noexcept {
    const auto found = kept_.data.find(data);
    return found == kept_.data.end() ? nullptr : &found->second;
  }

 private:
  /// What takes memory: what the log keeps; what is spare for a new entry; what is dropped.
  struct Parts {
    std::map<const void*, KnownData> data;
    std::list<ThreadName> threads;
  };

  /// Calls `attempt(spare)`, with more that is spare each time, until it returns true: it lacks no memory.
  template <class Attempt>
  void with_memory_for(const void* data, Attempt attempt) noexcept {
    if (std::exchange(thread_of_log.is_recording, true)) {
      return;
    }
    try {
      for (Parts spare; !attempt(spare);) {
        provide(data, spare);
      }
    } catch (const std::bad_alloc&) {
      lose();
    }
    thread_of_log.is_recording = false;
  }
  static void provide(const void* data, Parts& spare);

  bool any_has_room() const noexcept;
  /// Gives the thread a number. False if its name lacks its memory.
  bool enlist_this_thread(Parts& spare) noexcept;
  /// Null if a new entry lacks its memory.
  KnownData* find_or_add(const void* data, Parts& spare) noexcept;
  void keep(const Record& record) noexcept;
  void lose() noexcept;

  void in_child() noexcept override;

  sync::ProcessMutex mutex_;
  RecordingRoom* rooms_ = nullptr;
  Parts kept_;
  std::uint64_t period_ = 0;  ///< in which there is a recording all the time
  std::uint32_t last_data_ = 0;
};

RecordLog& record_log() noexcept;

}  // namespace byre::inline v0::stats::detail
