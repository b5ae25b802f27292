// SPDX-License-Identifier: BSL-1.0
/// The records of a recording, the log that keeps them, and the texts that show them.
#pragma once

#include <byre/config.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/call_sites.hpp>
#include <byre/observe/detail/observer.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <string>
#include <vector>

namespace byre::inline v0::stats::detail {

/// A line that cloned data, and how often.
struct ClonedAt {
  SiteId site = 0;
  std::uint32_t count = 0;

  friend bool operator==(const ClonedAt&, const ClonedAt&) = default;
};
/// The lines that cloned some data since one owner had it alone: the latest first, and not all if
/// there are many.
using ClonedLines = std::array<ClonedAt, 4>;

/// The lines that cloned this data, if that was recorded.
BYRE_API ClonedLines lines_that_cloned_data(const void* data) noexcept;

/// Another event.
struct Link {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t thread = 0;  ///< 0: there is none
  SiteId site = 0;
};

/// Times are of the steady clock. Data and threads have numbers, from 1 on, which are not given
/// twice.
struct Record {
  RecordKind kind{};
  CopyCause cause{};
  bool is_alive = false;  ///< an overlay that did not end, as it was when the records were taken
  SiteId site = 0;
  std::uint32_t data = 0;
  std::uint32_t other_data = 0;  ///< the copy, or what an overlay shows; 0 if it is not known
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

/// What a recording has, in the order in which it ended, and the overlays that are alive.
struct Records {
  std::vector<Record> records;
  std::vector<ThreadName> threads;
  std::int64_t begin_ns = 0;
  std::uint64_t lost = 0;
  Counters after;  ///< what was counted when the records were taken
};

/// One recording. It belongs to the log from begin_recording() until end_recording(), and has
/// records up to their capacity. A child of a fork begins it again, without the records of its
/// parent.
struct ActiveRecording : Records, boost::intrusive::list_base_hook<> {};

// The log has any number of recordings at once. Thread-safe; each of these locks it.

void begin_recording(ActiveRecording& recording) noexcept;
void end_recording(ActiveRecording& recording) noexcept;
/// Throws std::bad_alloc.
Records records_of(const ActiveRecording& recording);
std::uint64_t lost_by(const ActiveRecording& recording) noexcept;

/// Counts a line, and puts it first in `lines`; the last one goes where there are too many.
void add_line(ClonedLines& lines, SiteId site, std::uint32_t count = 1) noexcept;
/// Adds the lines of a whole to those of its part.
void add_lines_of_whole(ClonedLines& lines, const ClonedLines& whole) noexcept;

}  // namespace byre::inline v0::stats::detail

namespace byre::inline v0::trace::detail {

/// "train.cpp:42", or "" for a line that is not known. Throws std::bad_alloc, as all here.
std::string line_of(stats::detail::SiteId site);

/// "train.cpp:42 (3 times)"
std::string line_of(const stats::detail::ClonedAt& line);

std::string chrome_trace(const stats::detail::Records& records);
std::string summary_of(const stats::detail::Records& records);

}  // namespace byre::inline v0::trace::detail
