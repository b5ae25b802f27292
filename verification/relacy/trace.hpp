// SPDX-License-Identifier: BSL-1.0
/// The steps of one execution. They are recorded only during a replay.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/sync/detail/site.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::verification {

struct TraceEntry {
  unsigned thread;
  CallSite where;
  const sync::Site* site;  ///< null for an access to plain data
  std::array<char, 24> object;
  std::array<char, 120> text;
};

/// The recorded execution. Its storage is static, because the memory that threads allocate is
/// checked for leaks.
class Trace {
 public:
  static constexpr std::size_t capacity = 4096;
  static constexpr unsigned set_up = ~0U;  ///< the `thread` of entries by the set-up and by after()

  void start() noexcept {
    recording_ = true;
    size_ = 0;
  }
  void stop() noexcept { recording_ = false; }
  bool is_recording() const noexcept { return recording_; }
  void clear() noexcept { size_ = 0; }
  void set_threads_running(bool running) noexcept { threads_running_ = running; }

  /// Adds an entry for `thread`. If the trace is full, overwrites the last entry.
  TraceEntry& add(unsigned thread) noexcept {
    size_ += size_ < capacity ? 1 : 0;
    entries_[size_ - 1] = TraceEntry{};
    entries_[size_ - 1].thread = threads_running_ ? thread : set_up;
    return entries_[size_ - 1];
  }

  const TraceEntry* begin() const noexcept { return entries_.data(); }
  const TraceEntry* end() const noexcept { return entries_.data() + size_; }

 private:
  bool recording_ = false;
  bool threads_running_ = false;
  std::size_t size_ = 0;
  std::array<TraceEntry, capacity> entries_{};
};

inline Trace trace;

/// Formats the value of a share word, e.g. "2 owners, 1 copy, waiting", or a number.
void format_value(std::array<char, 120>& text, const char* verb, const sync::Site* site,
                  std::uint64_t value) noexcept;

}  // namespace byre::verification
