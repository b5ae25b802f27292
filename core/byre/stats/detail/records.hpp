// SPDX-License-Identifier: BSL-1.0
/// What the recorder keeps, for who shows it.
#pragma once

#include <byre/stats/detail/recorder.hpp>

#include <vector>

namespace byre::inline v0::stats::detail {

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

/// What was recorded since a time, in the order in which it ended, and overlays that are alive.
struct Records {
  std::vector<Record> records;
  std::vector<ThreadName> threads;
  std::uint64_t lost = 0;  ///< records for which there was no room or no memory
};

/// Of the steady clock.
std::int64_t now_ns() noexcept;

#if BYRE_STATS

/// From now on there is one recording more, or one less, with room for so many bytes of records. What is recorded is
/// kept until there is no recording. Thread-safe.
void begin_recording(std::size_t limit_nbytes) noexcept;
void end_recording(std::size_t limit_nbytes) noexcept;
/// Throws OutOfMemory. Thread-safe.
Records records_since(std::int64_t begin_ns);

#else

inline void begin_recording(std::size_t) noexcept {}
inline void end_recording(std::size_t) noexcept {}
inline Records records_since(std::int64_t) {
  return {};
}

#endif

}  // namespace byre::inline v0::stats::detail
