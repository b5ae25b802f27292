// SPDX-License-Identifier: BSL-1.0
/// Board: memory that a process shares with its child, on which the child says how far it is and
/// what it found, whatever happens to it then.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "child.hpp"

namespace byre::stress::planted {

class Board {
 public:
  /// Throws std::system_error.
  static Board& share() {
    void* const place =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "mmap");
    }
    return *::new (place) Board;
  }
  void unshare() noexcept { ::munmap(this, sizeof(Board)); }

  /// By the child.
  void begin_round(std::uint64_t round) noexcept {
    rounds_.store(round, boost::memory_order_relaxed);
  }
  /// By any thread of the child. Only the first is heard.
  void say(Ended ended, std::string_view text) noexcept {
    if (said_.exchange(true, boost::memory_order_relaxed)) {
      return;
    }
    ended_ = ended;
    const std::size_t length = text.copy(text_, sizeof text_ - 1);
    text_[length] = '\0';
    // Release pairs with ending(): what was said is complete.
    complete_.store(true, boost::memory_order_release);
  }

  /// By the parent.
  std::uint64_t rounds() const noexcept { return rounds_.load(boost::memory_order_relaxed); }
  Ending ending() const {
    const bool complete = complete_.load(boost::memory_order_acquire);
    return complete ? Ending{ended_, rounds(), text_} : Ending{Ended::in_peace, rounds(), ""};
  }

 private:
  Board() = default;

  boost::atomic<std::uint64_t> rounds_{0};
  boost::atomic<bool> said_{false};
  boost::atomic<bool> complete_{false};
  Ended ended_{};
  char text_[400] = {};
};

}  // namespace byre::stress::planted
