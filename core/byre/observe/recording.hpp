// SPDX-License-Identifier: BSL-1.0
/// Recording: what byre did while it lived, and why: each lazy clone, copy, steal and wait with its lines of source,
/// pins, overlays with the pages written in them, and what the recycling pool had. It is shown as a trace, which
/// https://ui.perfetto.dev and chrome://tracing open, or as a text. docs/trace.md reads one.
///
/// With BYRE_TRACE=file.json in the environment (or a name in .txt, or stderr, for the text) a whole program is
/// recorded, from its first data on, and written when it ends. The first %p in the name is replaced by the number of
/// the process; without one, a child that was forked writes nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace byre::inline v0::trace {

/// Any number of recordings may live at once, and each has what happened on all threads since it was made. What
/// another thread does while one begins or stops may be missed. Without a recording nothing is paid; with one each
/// event takes a lock and some hundred nanoseconds, and some 100 bytes.
///
/// Thread-safety: of one recording, const members may run at once; any number of threads may work meanwhile.
/// A child of a fork goes on recording, and has none of its parent's events.
class BYRE_API Recording {
 public:
  static constexpr std::size_t default_limit_nbytes = std::size_t{64} << 20;

  /// Begins. Has room for so many bytes of records, and takes that much address space at once, memory as it fills;
  /// events after that are lost, and counted. Throws InvalidArgument in a build without stats (Meson option), which
  /// records nothing; OutOfMemory.
  explicit Recording(std::size_t limit_nbytes = default_limit_nbytes);
  /// Stops. What was not written is gone.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Records no more, and keeps what there is. Throws OutOfMemory, and goes on then.
  void stop();

  /// The events so far in Chrome's trace format: a row for each thread, the bytes that are alive, pooled, copied and
  /// not copied as counters, an arrow from the clone to the copy that came of it. Times are in microseconds since the
  /// recording began. Throws OutOfMemory.
  std::string to_json() const;

  /// For people: how much there was of each event; then the copies, by cause and lines, those of most bytes first.
  /// With a newline at its end. Throws OutOfMemory.
  std::string summary() const;

  /// Writes to_json(), or summary() if the name ends in .txt, to a file, which appears complete or not at all. Throws
  /// FileError, OutOfMemory.
  void write(FileName name) const;

  /// Events for which there was no room, or no memory.
  std::uint64_t lost() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace byre::inline v0::trace
