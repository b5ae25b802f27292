// SPDX-License-Identifier: BSL-1.0
/// What a program asks of the system's madvise, which can be made to find no memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace byre::test {

/// Of one thread at a time. Ranges that were to be made writable, since this was made.
class WatchedMadvise {
 public:
  struct Range {
    const std::byte* data;
    std::size_t nbytes;
  };

  WatchedMadvise() noexcept;
  ~WatchedMadvise();
  WatchedMadvise(const WatchedMadvise&) = delete;
  WatchedMadvise& operator=(const WatchedMadvise&) = delete;

  /// From the call after `calls` more on there is no memory.
  void fail_after(std::size_t calls) noexcept { left_ = calls; }

  const std::vector<Range>& ranges() const noexcept { return ranges_; }

  /// What the system is asked instead, or not. `errno` is set where it is not.
  bool allows(const void* data, std::size_t nbytes);

 private:
  std::vector<Range> ranges_;
  std::size_t left_ = static_cast<std::size_t>(-1);
};

}  // namespace byre::test
