// SPDX-License-Identifier: BSL-1.0
/// The operations that seams.cpp measures for each seam. seam.cpp defines a Seam, and is compiled
/// once for sync::Boost and once for sync::Standard.
#pragma once

#include <cstddef>

namespace byre_bench {

/// Each function performs an operation `times` times.
struct Seam {
  void (*clone_and_drop)(std::size_t times);  ///< lazy clones of one buffer of 64 bytes
  void (*write_alone)(std::size_t times);     ///< writes to a buffer of 64 bytes with one owner
  void (*write_shared)(std::size_t times);    ///< lazy clones of 64 bytes that are written
  /// Rounds of two threads: each thread parks until the other wakes it.
  void (*wait_and_wake)(std::size_t times);
};

extern const Seam boost_seam;
extern const Seam standard_seam;

}  // namespace byre_bench
