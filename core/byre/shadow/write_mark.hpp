// SPDX-License-Identifier: BSL-1.0
/// WriteMark: one write to a storage, in one word: which one it was, and where it was made.
#pragma once

#include <cstdint>

namespace byre::inline v0::shadow {

/// A place of the program, by its number; 0 is none that is known.
using PlaceId = std::uint32_t;

/// Places have 20 bits and generations 44: a family would have to miss 2^44 writes, of which each takes
/// nanoseconds, to take the last for one it knows.
class WriteMark {
 public:
  static constexpr unsigned place_bits = 20;
  static constexpr PlaceId max_place = (PlaceId{1} << place_bits) - 1;

  /// Of a storage that has not been written since it is tracked.
  constexpr WriteMark() noexcept = default;
  constexpr explicit WriteMark(std::uint64_t word) noexcept : word_(word) {}

  /// How many writes there were, this one included.
  constexpr std::uint64_t generation() const noexcept { return word_ >> place_bits; }
  /// Where it was made.
  constexpr PlaceId place() const noexcept { return static_cast<PlaceId>(word_ & max_place); }
  constexpr std::uint64_t word() const noexcept { return word_; }

  friend constexpr bool operator==(WriteMark, WriteMark) noexcept = default;

 private:
  std::uint64_t word_ = 0;
};

}  // namespace byre::inline v0::shadow
