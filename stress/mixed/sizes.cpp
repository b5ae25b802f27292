// SPDX-License-Identifier: BSL-1.0
#include "sizes.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "../parsing.hpp"

namespace byre::stress {
namespace {

struct Unit {
  char letter;
  int bits;
};
constexpr Unit units[] = {{'M', 20}, {'K', 10}};

}  // namespace

std::size_t Sizes::draw(test::Random& random) const {
  const auto draw_bits = [&] {
    return random.number(std::bit_width(least_nbytes), std::bit_width(most_nbytes));
  };
  const auto first = draw_bits();
  const auto second = draw_bits();
  const auto bits = std::min({first, second, draw_bits()});
  const std::size_t least = std::max(least_nbytes, std::size_t{1} << (bits - 1));
  const std::size_t most = std::min(most_nbytes, (std::size_t{1} << bits) - 1);
  return random.number(least, most);
}

std::size_t parse_nbytes(std::string_view text) {
  std::string_view digits = text;
  int bits = 0;
  for (const Unit unit : units) {
    if (digits.ends_with(unit.letter)) {
      digits.remove_suffix(1);
      bits = unit.bits;
      break;
    }
  }
  const std::size_t number = parse_number<std::size_t>(digits).value_or(0);
  if (number == 0 || number > most_size_nbytes >> bits) {
    throw std::invalid_argument("a size is from 1 to 64M bytes, as 100, 64K or 1M, not '" +
                                std::string(text) + "'");
  }
  return number << bits;
}

Sizes parse_sizes(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) {
    const std::size_t nbytes = parse_nbytes(text);
    return {nbytes, nbytes};
  }
  const Sizes sizes{parse_nbytes(text.substr(0, dots)), parse_nbytes(text.substr(dots + 2))};
  if (sizes.least_nbytes > sizes.most_nbytes) {
    throw std::invalid_argument("sizes go from the smaller to the larger, as 1..64M, not '" +
                                std::string(text) + "'");
  }
  return sizes;
}

std::string text_of_nbytes(std::size_t nbytes) {
  for (const Unit unit : units) {
    if (nbytes != 0 && nbytes % (std::size_t{1} << unit.bits) == 0) {
      return std::to_string(nbytes >> unit.bits) + unit.letter;
    }
  }
  return std::to_string(nbytes);
}

std::string text_of(const Sizes& sizes) {
  const std::string least = text_of_nbytes(sizes.least_nbytes);
  return sizes.least_nbytes == sizes.most_nbytes ? least
                                                 : least + ".." + text_of_nbytes(sizes.most_nbytes);
}

}  // namespace byre::stress
