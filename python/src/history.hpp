// SPDX-License-Identifier: BSL-1.0
/// A sample of the pages of a block that were written between its copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::python {

/// How many sampled pages of a block differ from those of its last copy: 0 of 0 before the first one.
struct Changes {
  std::size_t pages = 0;
  std::size_t samples = 0;
};

/// What sampled pages of a block were at its last copy. One thread at a time.
class History {
 public:
  static constexpr std::size_t most_samples = 64;

  Changes changes(const std::byte* data, std::size_t nbytes) const noexcept;
  /// As changes(), by a copy: later ones are held against it.
  Changes update(const std::byte* data, std::size_t nbytes) noexcept;

 private:
  std::array<std::uint64_t, most_samples> sums_{};
  std::size_t samples_ = 0;  // 0 in front of the first copy
};

}  // namespace byre::inline v0::python
