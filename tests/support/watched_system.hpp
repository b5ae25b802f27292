// SPDX-License-Identifier: BSL-1.0
/// What a program asks of the system for pages, and a system that has not all of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace byre::test {

/// Of one thread at a time.
class WatchedSystem {
 public:
  struct Range {
    const std::byte* data;
    std::size_t nbytes;
  };

  WatchedSystem() noexcept;
  ~WatchedSystem();
  WatchedSystem(const WatchedSystem&) = delete;
  WatchedSystem& operator=(const WatchedSystem&) = delete;

  /// From the call after `calls` more on there is no memory for pages.
  void fail_after(std::size_t calls) noexcept { left_ = calls; }

  /// The next `calls` for pages are interrupted.
  std::size_t interruptions = 0;

  /// Of old systems, and of locked-down ones.
  bool has_pagemap_scan = true;
  bool has_pagemap = true;
  bool has_memory_files = true;
  bool has_noexec_seal = true;
  bool wants_noexec_seal = false;

  /// Whether munmap() succeeds.
  bool unmaps = true;
  /// Whether mprotect() makes pages writable.
  bool makes_writable = true;

  /// After `allowed` more calls of mmap() the next `calls` fail.
  void refuse_maps(std::size_t calls, std::size_t allowed = 0) noexcept {
    refused_maps_ = calls;
    allowed_maps_ = allowed;
  }
  bool takes_refusal_of_map() noexcept {
    if (allowed_maps_ != 0) {
      --allowed_maps_;
      return false;
    }
    return refused_maps_ != 0 && refused_maps_-- != 0;
  }
  /// Called before each call of mmap().
  std::function<void()> before_mapping = [] {};

  /// Whether mremap() succeeds, and whether a move that fails unmaps its target.
  bool moves = true;
  bool unmaps_targets = false;

  /// Called before a range is made writable.
  std::function<void(const Range&)> before_populating = [](const Range&) {};

  /// The ranges that were to be made writable.
  const std::vector<Range>& ranges() const noexcept { return ranges_; }

  /// The ranges that this was advised of: MADV_HUGEPAGE, say.
  std::vector<Range> advised(int advice) const;
  void note(int advice, const void* data, std::size_t nbytes);

  /// Whether there is memory for a range.
  bool allows(const void* data, std::size_t nbytes);

 private:
  std::vector<Range> ranges_;
  std::map<int, std::vector<Range>> advised_;
  std::size_t refused_maps_ = 0;
  std::size_t allowed_maps_ = 0;
  std::size_t left_ = static_cast<std::size_t>(-1);
};

}  // namespace byre::test
