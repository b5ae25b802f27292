// SPDX-License-Identifier: BSL-1.0
/// Recordings: a Recording stores each lazy clone, copy, steal and wait with its call sites, each
/// pin, each overlay with the pages written in it, and the use of the recycling pool. Its output is
/// a trace for https://ui.perfetto.dev and chrome://tracing, or a text summary; docs/trace.md
/// explains how to read them.
///
/// With the environment variable BYRE_TRACE=file.json, byre records a whole program, from its first
/// data on, and writes the trace when the program ends. If the name ends in .txt or is stderr, byre
/// writes the summary instead. The first %p in the name is replaced by the process number; without
/// %p, a forked child writes nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace byre::inline BYRE_ABI::trace {

/// Records events on all threads from its construction until stop().
///
/// Any number of recordings may exist at once. An event of another thread may be missed if it
/// happens while a recording begins or stops. Cost: none without a recording; with a recording,
/// each event takes a lock, about 150 nanoseconds and about 100 bytes.
///
/// Thread-safety: const members may run concurrently with each other; recorded threads need no
/// synchronization. A forked child continues the recording without the events of its parent.
class BYRE_API Recording {
 public:
  static constexpr std::size_t default_limit_nbytes = std::size_t{64} << 20;

  /// Begins to record. Reserves `limit_nbytes` of address space for records immediately; memory is
  /// used as records are added. When the space is full, further events are counted as lost. Throws
  /// InvalidArgument in a build without stats (Meson option), which cannot record, or OutOfMemory.
  explicit Recording(std::size_t limit_nbytes = default_limit_nbytes);
  /// Stops, and discards the events.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Stops recording; the events stay available. Does nothing if already stopped. If stop() throws
  /// OutOfMemory, the recording continues.
  void stop();

  /// Returns the events so far in Chrome's trace format: a row for each thread; counters of the
  /// live, pooled, copied and not copied bytes; and an arrow from each clone to the copy that it
  /// caused. Times are in microseconds since the recording began. Throws OutOfMemory.
  std::string to_json() const;

  /// Returns a text: the number of events of each kind, then the copies grouped by cause and call
  /// sites, largest sum of bytes first. The text ends with a newline. Throws OutOfMemory.
  std::string summary() const;

  /// Writes summary() if the name ends in .txt, else to_json(). The file appears complete or not at
  /// all. Throws FileError if the file cannot be written, or OutOfMemory.
  void write(FileName name) const;

  /// The number of events that were lost because the recording was full or the heap lacked memory.
  std::uint64_t lost() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace byre::inline BYRE_ABI::trace
