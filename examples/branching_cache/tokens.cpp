// SPDX-License-Identifier: BSL-1.0
#include "tokens.hpp"

#include <algorithm>
#include <random>

namespace examples::branching_cache {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): different numbers stay different.
std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

}  // namespace

TokenMaker::TokenMaker(const Plan& plan)
    : row_words_(plan.row_nbytes() / sizeof(std::uint64_t)),
      words_(plan.token_nbytes() / sizeof(std::uint64_t)) {
  std::ranges::generate(words_, std::mt19937_64(plan.seed));
}

std::span<const std::byte> TokenMaker::token(std::uint64_t author, std::size_t position) noexcept {
  std::uint64_t stamp = mixed(author << 24 ^ position);  // positions have fewer bits than that
  for (std::size_t word = 0; word < words_.size(); word += row_words_) {
    words_[word] = stamp++;
  }
  return std::as_bytes(std::span(words_));
}

}  // namespace examples::branching_cache
