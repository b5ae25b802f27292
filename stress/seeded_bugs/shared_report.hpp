// SPDX-License-Identifier: BSL-1.0
/// SharedReport: memory that a process shares with its child. The child writes there how far it is and what
/// it found; that stays, however the child ends.
#pragma once

#include <sys/mman.h>

#include <boost/atomic/atomic.hpp>

#include <cerrno>
#include <cstdint>
#include <new>
#include <string_view>
#include <system_error>

#include "bug_run.hpp"

namespace byre::stress::seeded_bugs {

class SharedReport {
 public:
  /// Throws std::system_error.
  static SharedReport& map() {
    void* const place = ::mmap(nullptr, sizeof(SharedReport), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "mmap");
    }
    return *::new (place) SharedReport;
  }
  void unmap() noexcept { ::munmap(this, sizeof(SharedReport)); }

  /// By the child.
  void begin_round(std::uint64_t round) noexcept {
    rounds_.store(round, boost::memory_order_relaxed);
  }
  /// By any thread of the child. The first finding counts.
  void write(Verdict verdict, std::string_view text) noexcept {
    if (is_taken_.exchange(true, boost::memory_order_relaxed)) {
      return;
    }
    verdict_ = verdict;
    const std::size_t length = text.copy(text_, sizeof text_ - 1);
    text_[length] = '\0';
    // Release pairs with finding(): the finding is complete.
    is_complete_.store(true, boost::memory_order_release);
  }

  /// By the parent.
  std::uint64_t rounds() const noexcept { return rounds_.load(boost::memory_order_relaxed); }
  Finding finding() const {
    const bool is_complete = is_complete_.load(boost::memory_order_acquire);
    return is_complete ? Finding{verdict_, rounds(), text_}
                       : Finding{Verdict::not_found, rounds(), ""};
  }

 private:
  SharedReport() = default;

  boost::atomic<std::uint64_t> rounds_{0};
  boost::atomic<bool> is_taken_{false};
  boost::atomic<bool> is_complete_{false};
  Verdict verdict_{};
  char text_[400] = {};
};

}  // namespace byre::stress::seeded_bugs
