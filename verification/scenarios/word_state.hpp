// SPDX-License-Identifier: BSL-1.0
/// What a step of a share word read or left behind, for cover points.
#pragma once

#include <byre/sync/detail/site.hpp>

#include "../search.hpp"

namespace byre::verification {

struct WordState {
  explicit WordState(std::uint64_t word) noexcept
      : owners(word & 0x7FFF'FFFF), copies(word >> 32 & 0x7FFF'FFFF), waiting(word >> 31 & 1) {}

  std::uint64_t owners;
  std::uint64_t copies;
  bool waiting;
};

/// Follows the owner that waits, if any: it sleeps from the load that found copies pending until
/// somebody wakes it.
class Sleeper {
 public:
  void saw(const sync::Site& site, std::uint64_t value) noexcept {
    if (site.name == "share_word.still_pending") {
      const WordState now(value);
      sleeps_ = now.owners == 1 && now.copies != 0;
    } else if (site.name.starts_with("share_word.wake")) {
      sleeps_ = false;
    }
  }
  bool sleeps() const noexcept { return sleeps_; }

 private:
  bool sleeps_ = false;
};

}  // namespace byre::verification
