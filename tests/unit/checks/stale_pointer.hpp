// SPDX-License-Identifier: BSL-1.0
/// StalePointer: a pointer that was taken before a lazy clone. Also the report of a checked build
/// about a write through such a pointer.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace byre::test {

inline constexpr std::size_t paged = std::size_t{64} << 10;  // whole pages from the pool
inline constexpr std::size_t small = 100;

struct Lines {
  int taken;   ///< the line at which the pointer was taken
  int cloned;  ///< the line of the lazy clone
};

struct StalePointer {
  static constexpr Lines lines{__LINE__ + 3, __LINE__ + 4};

  explicit StalePointer(Storage&& written) : storage(std::move(written)) {
    pointer = storage.mutable_data();
    clone = storage.lazy_clone();
  }

  Storage storage;
  std::byte* pointer;
  Storage clone;
};

/// A regular expression for a line of a test, or of this file.
inline std::string at_line(int line) {
  return "at [^ ]*(_test\\.cpp|/stale_pointer\\.hpp):" + std::to_string(line);
}

inline std::string report(const std::string& what, Lines lines) {
  return "^byre: write to shared data through a stale pointer: " + what +
         "\\. The pointer was taken " + at_line(lines.taken) +
         ", before the lazy clone or version\\(\\) " + at_line(lines.cloned) +
         "\\. Call mutable_data\\(\\) after each lazy clone and version\\(\\), before the next "
         "write\\.\n";
}

/// The report of a write to guarded pages. The write itself causes the report.
inline std::string fault_report(std::size_t byte, std::size_t nbytes, Lines lines) {
  return report("byte " + std::to_string(byte) + " of the storage of " + std::to_string(nbytes) +
                    " bytes at 0x[0-9a-f]+",
                lines);
}

/// The report of a change of checksummed data, which a later call detects; `detected` is a regular
/// expression for that call.
inline std::string change_report(std::size_t nbytes, const std::string& detected, Lines lines) {
  return report("the storage of " + std::to_string(nbytes) +
                    " bytes at 0x[0-9a-f]+ changed while it was shared, detected " + detected,
                lines);
}

}  // namespace byre::test
