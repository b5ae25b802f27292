// SPDX-License-Identifier: BSL-1.0
/// The records of a recording, the functions of the log that stores them, and the output formats.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/intrusive_list.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/call_sites.hpp>
#include <byre/observe/detail/observer.hpp>

#include <array>
#include <string>
#include <vector>

namespace byre::inline BYRE_ABI::stats::detail {

/// The lines that cloned `data`, or empty lines if the clones were not recorded.
BYRE_API ClonedLines lines_that_cloned_data(const void* data) noexcept;

/// A reference to another event, for an arrow in the trace.
struct Link {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t thread = 0;  ///< 0: no event
  SiteId site = 0;
};

/// An event. Times are those of the steady clock. Data and threads have numbers from 1 on, which
/// are not reused.
struct Record {
  RecordKind kind{};
  CopyCause cause{};
  /// True for an overlay that has not ended; the record describes it at the time of records_of().
  bool is_alive = false;
  SiteId site = 0;
  std::uint32_t data = 0;
  std::uint32_t other_data = 0;  ///< the copy, or the data that an overlay shows; 0: unknown
  std::uint32_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t nbytes = 0;
  std::size_t part_nbytes = 0;
  Link links_to{};
  ClonedLines cloned_at{};
};

struct ThreadName {
  std::uint32_t number = 0;
  std::uint64_t system_id = 0;
  std::array<char, 16> name{};
};

/// The events of a recording in the order of their ends, followed by the live overlays.
struct Records {
  std::vector<Record> records;
  std::vector<ThreadName> threads;
  std::int64_t begin_ns = 0;
  std::uint64_t lost = 0;
  Counters after;  ///< the counters at the time when the records were taken
};

/// A recording. The log uses it from begin_recording() to end_recording() and adds records up to
/// their capacity. In a forked child, it restarts without the records of its parent.
struct ActiveRecording : Records, byre::detail::ListNode {};

// The log serves any number of recordings. These functions are thread-safe; each takes the log's
// lock.

void begin_recording(ActiveRecording& recording) noexcept;
void end_recording(ActiveRecording& recording) noexcept;
/// Returns a copy of the records. May throw std::bad_alloc.
Records records_of(const ActiveRecording& recording);
std::uint64_t lost_by(const ActiveRecording& recording) noexcept;

}  // namespace byre::inline BYRE_ABI::stats::detail

namespace byre::inline BYRE_ABI::trace::detail {

// All functions here may throw std::bad_alloc.

/// "train.cpp:42", or "" if the line is unknown.
std::string line_of(stats::detail::SiteId site);

/// "train.cpp:42 (3 times)"
std::string line_of(const stats::detail::ClonedAt& line);

std::string chrome_trace(const stats::detail::Records& records);
std::string summary_of(const stats::detail::Records& records);

}  // namespace byre::inline BYRE_ABI::trace::detail
