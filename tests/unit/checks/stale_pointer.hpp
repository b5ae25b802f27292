// SPDX-License-Identifier: BSL-1.0
/// A pointer from before a lazy clone, and what a checked build says of a write through it.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace byre::test {

inline constexpr std::size_t paged = std::size_t{64} << 10;  // whole pages of the pool's
inline constexpr std::size_t small = 100;

/// Of the pointer, and of the clone.
struct Lines {
  int taken;
  int cloned;
};

struct StalePointer {
  static constexpr Lines lines{__LINE__ + 3, __LINE__ + 4};

  explicit StalePointer(Storage&& of) : storage(std::move(of)) {
    pointer = storage.mutable_data();
    clone = storage.lazy_clone();
  }

  Storage storage;
  std::byte* pointer;
  Storage clone;
};

/// A place in the test, or in this file.
inline std::string at_line(int line) {
  return "at [^ ]*(_test\\.cpp|/stale_pointer\\.hpp):" + std::to_string(line);
}

inline std::string report(const std::string& what, Lines lines) {
  return "^byre: a write to shared data, through a pointer from before a lazy clone: " + what +
         "\\. The pointer was taken " + at_line(lines.taken) + ", the clone made " +
         at_line(lines.cloned) +
         "\\. Call mutable_data\\(\\) again for every write that may come after a lazy clone\\.\n";
}

/// Pages: said where the write is.
inline std::string fault(std::size_t byte, std::size_t nbytes, Lines lines) {
  return report("byte " + std::to_string(byte) + " of the storage of " + std::to_string(nbytes) +
                    " bytes at 0x[0-9a-f]+",
                lines);
}

/// Other data: said later, `found` where.
inline std::string change_found(std::size_t nbytes, const std::string& found, Lines lines) {
  return report("the storage of " + std::to_string(nbytes) +
                    " bytes at 0x[0-9a-f]+ has changed since, as is found " + found,
                lines);
}

}  // namespace byre::test
