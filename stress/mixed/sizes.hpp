// SPDX-License-Identifier: BSL-1.0
/// The sizes of the storages of a run.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/random/uniform_int_distribution.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace byre::stress {

inline constexpr std::size_t most_size_nbytes = std::size_t{64} << 20;

/// Between two bounds, both included.
struct Sizes {
  std::size_t least_nbytes = 1;
  std::size_t most_nbytes = most_size_nbytes;

  friend bool operator==(const Sizes&, const Sizes&) = default;

  static int order_of(std::size_t nbytes) noexcept {
    return static_cast<int>(std::bit_width(nbytes));
  }

  /// The smallest of three orders of magnitude that are uniformly drawn: 64 MiB come up, and most
  /// operations take microseconds.
  template <class Random>
  std::size_t draw(Random& random) const {
    boost::random::uniform_int_distribution<int> order(order_of(least_nbytes),
                                                       order_of(most_nbytes));
    const int first = order(random);
    const int second = order(random);
    const int bits = std::min({first, second, order(random)});
    const std::size_t from = std::max(least_nbytes, std::size_t{1} << (bits - 1));
    const std::size_t to = std::min(most_nbytes, (std::size_t{1} << bits) - 1);
    return boost::random::uniform_int_distribution<std::size_t>(from, to)(random);
  }
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
