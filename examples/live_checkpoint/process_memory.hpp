// SPDX-License-Identifier: BSL-1.0
/// The most memory this process had at one time, as the system counts it, over one part of its
/// life. Only Linux can start counting anew; elsewhere the answer is that it is not known.
#pragma once

#include <cstdint>
#include <optional>

namespace live_checkpoint {

class PeakMemory {
 public:
  /// Gives memory that is free back to the system and starts counting.
  PeakMemory();

  /// Most bytes resident since then, or nothing if the system cannot say.
  std::optional<std::uint64_t> nbytes() const;

 private:
  bool counting_;
};

}  // namespace live_checkpoint
