// SPDX-License-Identifier: BSL-1.0
/// What happened in one execution, step by step. Recorded only when an execution is replayed.
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
  const sync::Site* site;  ///< or null
  std::array<char, 24> object;
  std::array<char, 120> text;
};

/// The execution being recorded. In place, since what threads allocate is checked for leaks.
class Trace {
 public:
  static constexpr std::size_t capacity = 4096;
  static constexpr unsigned set_up = ~0U;  ///< the thread of what is before and after the threads

  void start() noexcept {
    recording_ = true;
    size_ = 0;
  }
  void stop() noexcept { recording_ = false; }
  bool is_recording() const noexcept { return recording_; }
  /// For a new execution.
  void clear() noexcept { size_ = 0; }
  void set_threads_running(bool running) noexcept { threads_running_ = running; }

  /// A new entry of `thread`; where there is no room, the last one again.
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

/// "2 owners, 1 copy, waiting" of a share word; the number of anything else.
void format_value(std::array<char, 120>& text, const char* verb, const sync::Site* site,
                  std::uint64_t value) noexcept;

}  // namespace byre::verification
