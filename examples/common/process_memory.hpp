// SPDX-License-Identifier: BSL-1.0
/// The memory that this process has, as the system counts it. Only Linux says; elsewhere the answer
/// is that it is not known.
#pragma once

#include <cstdint>
#include <optional>

namespace examples {

/// Gives memory that is free back to the system.
void release_free_memory();

/// Bytes resident at this moment.
struct ResidentMemory {
  std::uint64_t nbytes = 0;
  std::uint64_t anonymous_nbytes = 0;  ///< of those, what no file has: the process's own
};

std::optional<ResidentMemory> resident_memory();

/// Bytes that programs can have at this moment without the system's taking them from others.
std::optional<std::uint64_t> available_memory_nbytes();

/// The most that was resident at one time, over one part of the process's life.
class PeakMemory {
 public:
  /// Releases free memory and starts counting.
  PeakMemory();

  /// Most bytes resident since then, or nothing if the system cannot say.
  std::optional<std::uint64_t> nbytes() const;

 private:
  bool counting_;
};

}  // namespace examples
