// SPDX-License-Identifier: BSL-1.0
/// What the recorder keeps, for who shows it.
#pragma once

#include <byre/config.hpp>
#include <byre/observe/detail/call_sites.hpp>
#include <byre/observe/detail/observer.hpp>

#include <array>
#include <vector>

namespace byre::inline v0::stats::detail {

/// A line that cloned data, and how often.
struct ClonedAt {
  SiteId site = 0;
  std::uint32_t count = 0;
};
/// The lines that cloned some data since one owner had it alone: the latest first, and not all if there are many.
using ClonedLines = std::array<ClonedAt, 4>;

/// The lines that cloned this data, if that was recorded.
BYRE_API ClonedLines lines_that_cloned(const void* data) noexcept;

/// Another event.
struct Link {
  std::int64_t ns = 0;
  std::uint32_t thread = 0;  ///< 0: there is none
  SiteId site = 0;
};

/// Times are of the steady clock. Data and threads have numbers, from 1 on, which are not given twice.
struct Record {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t nbytes = 0;
  std::size_t part_nbytes = 0;
  std::uint32_t data = 0;
  std::uint32_t other_data = 0;  ///< the copy, or what an overlay shows; 0 if it is not known
  std::uint32_t thread = 0;
  SiteId site = 0;
  RecordKind kind{};
  CopyCause cause{};
  bool is_alive = false;  ///< an overlay that did not end, as it was when the records were taken
  Link links_to;
  ClonedLines cloned_at{};
};

struct ThreadName {
  std::uint32_t number = 0;
  std::uint64_t system_id = 0;
  std::array<char, 16> name{};
};

/// One recording. It belongs to the recorder from begin_recording() until end_recording().
struct RecordingRoom {
  std::size_t limit = 0;    ///< of records
  std::uint64_t first = 0;  ///< the number of its first record, and how many it has from there on
  std::size_t count = 0;
  std::uint64_t lost = 0;     ///< records for which there was no room or no memory
  std::int64_t begin_ns = 0;  ///< in a child of a fork, that of the child
  RecordingRoom* next = nullptr;
};

/// What a recording has, in the order in which it ended, and the overlays that are alive.
struct Records {
  std::vector<Record> records;
  std::vector<ThreadName> threads;
  std::int64_t begin_ns = 0;
  std::uint64_t lost = 0;
};

/// Of the steady clock.
std::int64_t now_ns() noexcept;

#if BYRE_STATS

/// There may be any number. A record is kept as long as there is a recording that has it. Thread-safe.
void begin_recording(RecordingRoom& room) noexcept;
void end_recording(RecordingRoom& room) noexcept;
/// Throws OutOfMemory. Thread-safe.
Records records_of(const RecordingRoom& room);
std::uint64_t lost_of(const RecordingRoom& room) noexcept;

#else

inline void begin_recording(RecordingRoom&) noexcept {}
inline void end_recording(RecordingRoom&) noexcept {}
inline Records records_of(const RecordingRoom&) {
  return {};
}
inline std::uint64_t lost_of(const RecordingRoom&) noexcept {
  return 0;
}

#endif

}  // namespace byre::inline v0::stats::detail
