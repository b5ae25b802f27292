// SPDX-License-Identifier: BSL-1.0
/// Input: the bytes of a fuzzer, read as numbers. Every byte string is an input: bytes beyond the end are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace byre::fuzz {

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t nbytes) noexcept : next_(bytes), left_(nbytes) {}

  bool is_empty() const noexcept { return left_ == 0; }

  std::uint8_t byte() noexcept {
    if (left_ == 0) {
      return 0;
    }
    --left_;
    return *next_++;
  }

  /// Less than `limit`, which is from 1 to 256.
  std::size_t below(std::size_t limit) noexcept { return byte() % limit; }

  /// The most significant byte first.
  std::uint64_t number(unsigned nbytes) noexcept {
    std::uint64_t number = 0;
    for (unsigned at = 0; at < nbytes; ++at) {
      number = number << 8 | byte();
    }
    return number;
  }

  /// All that is left.
  std::string_view rest() noexcept {
    const std::string_view rest(reinterpret_cast<const char*>(next_), left_);
    next_ += left_;
    left_ = 0;
    return rest;
  }

 private:
  const std::uint8_t* next_;
  std::size_t left_;
};

}  // namespace byre::fuzz
