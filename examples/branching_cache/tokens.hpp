// SPDX-License-Identifier: BSL-1.0
/// Made-up keys and values of tokens: a function of who wrote a token, and of where.
#pragma once

#include "options.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace examples::branching_cache {

/// One token at a time, in memory of its own. For one thread.
class TokenMaker {
 public:
  explicit TokenMaker(const Plan& plan);

  /// Each key and value begins with eight bytes that no other author and no other place has, and goes
  /// on with noise that all tokens have in common: else the time to make them would hide that of
  /// keeping them. Valid until the next call.
  std::span<const std::byte> token(std::uint64_t author, std::size_t position) noexcept;

 private:
  std::size_t row_words_;
  std::vector<std::uint64_t> words_;
};

}  // namespace examples::branching_cache
