// SPDX-License-Identifier: BSL-1.0
/// The records of all recordings, under one lock: events are seldom where they cost, and so have one order.
///
///     room of one recording           |--------------- count ----->   has no room any more
///     chunks   [0 ... 255] <- [256 ... 511] <- [512 ... ]              each leads to the one before it
///     room of another one                          |------ count ->
///
/// A record is kept if one recording has room for it, and dropped with its chunk when no recording has it. What
/// takes memory is made while nothing is locked.
#pragma once

#include <byre/observe/detail/data_table.hpp>
#include <byre/observe/detail/records.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <array>
#include <memory>
#include <new>
#include <utility>

namespace byre::inline v0::stats::detail {

/// What the log knows of the calling thread.
struct ThreadOfLog {
  std::uint64_t period = 0;  ///< in which its number was given
  std::uint32_t number = 0;
  bool is_recording =
      false;  ///< what it does meanwhile is not recorded: the heap may be the user's
};
extern constinit thread_local ThreadOfLog thread_of_log;

class RecordLog final : sync::detail::ProcessState {
 public:
  RecordLog() { enter(); }

  void begin(RecordingRoom& room) noexcept;
  void end(RecordingRoom& room) noexcept;
  Records take(const RecordingRoom& room);
  std::uint64_t lost_of(const RecordingRoom& room) noexcept;

  /// Calls `fill(record, known)` for a record of this thread, and keeps it unless that returns false. `known` is of
  /// `data`; of none, if that is null.
  template <class Fill>
  void add_if(const void* data, Fill fill) noexcept {
    provide_for(data, [&](Spare& spare) noexcept {
      const sync::ProcessLock lock(mutex_);
      KnownData nobody;
      KnownData* known = nullptr;
      Record* record = nullptr;
      const Lacks lacks = prepare(data, spare, nobody, known, record);
      if (record != nullptr && fill(*record, *known)) {
        keep();
      }
      return lacks;
    });
  }
  template <class Fill>
  void add(const void* data, Fill fill) noexcept {
    add_if(data, [&](Record& record, KnownData& known) {
      fill(record, known);
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
  struct Chunk {
    static constexpr std::size_t most = 256;
    std::unique_ptr<Chunk> before;
    std::uint64_t first = 0;  ///< the number of its first record
    std::size_t count = 0;
    std::array<Record, most> records{};
  };
  struct Thread {
    std::unique_ptr<Thread> before;
    ThreadName name;
  };
  struct Kept {
    DataTable data;
    std::unique_ptr<Chunk> chunks;  ///< the last one
    std::unique_ptr<Thread> threads;

    Kept() noexcept = default;
    Kept(Kept&&) noexcept = default;
    Kept& operator=(Kept&&) noexcept = default;
    ~Kept();
  };
  struct Spare {
    DataTable data;  ///< empty, or one
    std::unique_ptr<Chunk> chunk;
    std::unique_ptr<Thread> thread;
  };
  enum class Lacks : std::uint8_t { nothing, data, chunk, thread };

  /// Calls `try_it(spare)` until it lacks nothing.
  template <class Try>
  void provide_for(const void* data, Try try_it) noexcept {
    if (std::exchange(thread_of_log.is_recording, true)) {
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
      lose();
    }
    thread_of_log.is_recording = false;
  }
  static void provide(Lacks lacks, const void* data, Spare& spare);

  /// The place of a new record, and what is known of its data; null where no recording has room.
  Lacks prepare(const void* data, Spare& spare, KnownData& nobody, KnownData*& known,
                Record*& record) noexcept;
  /// The record that was prepared.
  void keep() noexcept;
  void lose() noexcept;
  /// Null if a new entry lacks its memory.
  KnownData* find_or_add(const void* data, Spare& spare) noexcept;
  void add_thread(std::unique_ptr<Thread> thread) noexcept;
  /// With room for all.
  void copy_to(Records& taken, const RecordingRoom& room) const noexcept;
  std::unique_ptr<Chunk> chunks_before(std::uint64_t number) noexcept;

  void in_child() noexcept override;

  sync::ProcessMutex mutex_;
  RecordingRoom* rooms_ = nullptr;
  Kept kept_;
  std::uint64_t next_ = 0;    ///< the number of the next record
  std::uint64_t period_ = 0;  ///< in which there is a recording all the time
  std::uint32_t last_data_ = 0;
};

RecordLog& record_log() noexcept;

}  // namespace byre::inline v0::stats::detail
