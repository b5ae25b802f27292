// SPDX-License-Identifier: BSL-1.0
/// WatchedSystem: replaces functions of the system that concern pages, such as mmap(). It records
/// calls, lets calls fail, and can act as a system that lacks features.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace byre::test {

/// While an object exists, the replaced functions consult it; otherwise they only call the system.
/// For one thread at a time.
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

  /// Lets `calls` more calls of madvise(MADV_POPULATE_WRITE) succeed, and all later calls fail.
  void fail_after(std::size_t calls) noexcept { left_ = calls; }

  /// How many of the next calls of madvise(MADV_POPULATE_WRITE) are interrupted.
  std::size_t interruptions = 0;

  /// Features that an old system lacks, or that a locked-down system lacks or requires.
  bool has_pagemap_scan = true;
  bool has_pagemap = true;
  bool has_proc = true;
  bool has_memory_files = true;
  bool has_noexec_seal = true;
  bool wants_noexec_seal = false;

  /// Whether the process may open many files, so that each range of pages has a file of its own.
  /// If the environment variable BYRE_FEW_DESCRIPTORS is set, it never may.
  bool has_many_descriptors = true;

  /// Whether munmap() succeeds.
  bool unmaps = true;
  /// Whether mprotect() makes pages writable.
  bool makes_writable = true;

  /// Lets the next `calls` calls of mmap() fail, after `allowed` successful ones.
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
  /// Lets one call fail with `error`, after `calls` calls of `function`, or of any function for
  /// which takes_failure() is called.
  void fail_once(std::size_t calls, int error, std::string function = "") {
    left_until_failure_ = calls;
    error_ = error;
    failing_ = std::move(function);
  }
  /// The name of the function that failed by fail_once(), or null.
  const char* failed() const noexcept { return failed_; }
  /// Whether the call of `function` fails now. Sets errno.
  bool takes_failure(const char* function) noexcept;

  /// Called before each call of mmap().
  std::function<void()> before_mapping = [] {};

  /// Whether mremap() succeeds, and whether a move that fails unmaps its target.
  bool moves = true;
  bool unmaps_targets = false;

  /// Called before each call of open().
  std::function<void()> before_opening = [] {};

  /// Called before a range is populated.
  std::function<void(const Range&)> before_populating = [](const Range&) {};

  /// The ranges of all calls of madvise(MADV_POPULATE_WRITE).
  const std::vector<Range>& ranges() const noexcept { return ranges_; }

  /// The ranges for which madvise() was called with `advice`, such as MADV_HUGEPAGE.
  std::vector<Range> advised(int advice) const;
  void note(int advice, const void* data, std::size_t nbytes);

  /// Records a range that a call populates, and returns whether the call may succeed.
  bool allows(const void* data, std::size_t nbytes);

 private:
  std::vector<Range> ranges_;
  std::map<int, std::vector<Range>> advised_;
  std::size_t refused_maps_ = 0;
  std::size_t allowed_maps_ = 0;
  std::size_t left_ = static_cast<std::size_t>(-1);
  std::size_t left_until_failure_ = static_cast<std::size_t>(-1);
  int error_ = 0;
  std::string failing_;
  const char* failed_ = nullptr;
};

/// The object that exists, or null.
WatchedSystem* watched_system() noexcept;

}  // namespace byre::test
