// SPDX-License-Identifier: BSL-1.0
/// The sizes of the storages of a run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/random.hpp"

namespace byre::stress {

inline constexpr std::size_t most_size_nbytes = std::size_t{64} << 20;

/// Between two bounds, both included.
struct Sizes {
  std::size_t least_nbytes = 1;
  std::size_t most_nbytes = most_size_nbytes;

  friend bool operator==(const Sizes&, const Sizes&) = default;

  /// The smallest of three orders of magnitude that are uniformly drawn: 64 MiB come up, and most
  /// operations take microseconds.
  std::size_t draw(test::Random& random) const;
};

/// "100", "64K", "1M", up to 64M. Throws std::invalid_argument, with a text for the
/// user.
std::size_t parse_nbytes(std::string_view text);

/// "1..64M", or one size. Throws as parse_nbytes.
Sizes parse_sizes(std::string_view text);

/// The inverse of the parsers.
std::string text_of_nbytes(std::size_t nbytes);
std::string text_of(const Sizes& sizes);

}  // namespace byre::stress
