// SPDX-License-Identifier: BSL-1.0
/// Choices: the bytes that choose the steps of a program. They are the input of a fuzzer, or an
/// endless sequence of random bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "support/random.hpp"

namespace byre::programs {

/// Used by one thread.
class Choices {
 public:
  /// Every byte string is a valid input: bytes past the end read as 0.
  Choices(const std::uint8_t* bytes, std::size_t nbytes) noexcept : next_(bytes), left_(nbytes) {}
  explicit Choices(std::uint64_t seed) noexcept : is_random_(true), seed_(seed) {}

  bool is_empty() const noexcept { return !is_random_ && left_ == 0; }

  /// Begins a step. The random bytes of a step depend only on the seed and the number of the step,
  /// not on the number of bytes that earlier steps took. So the decisions of a thread do not depend
  /// on the timing of other threads.
  void begin_step() noexcept {
    engine_ = test::RandomEngine(seed_ + ++steps_ * 0x2545'F491'4F6C'DD1D);
  }

  std::uint8_t byte() noexcept {
    if (is_random_) {
      return static_cast<std::uint8_t>(engine_() >> 56);
    }
    if (left_ == 0) {
      return 0;
    }
    --left_;
    return *next_++;
  }

  /// A number below `limit`, which is from 1 to 256.
  std::size_t below(std::size_t limit) noexcept { return byte() % limit; }
  bool flag() noexcept { return below(2) != 0; }

  /// A number of `nbytes` bytes, most significant byte first.
  std::uint64_t number(unsigned nbytes) noexcept {
    std::uint64_t number = 0;
    for (unsigned at = 0; at < nbytes; ++at) {
      number = number << 8 | byte();
    }
    return number;
  }
  /// A number from 0 to `most`, inclusive.
  std::size_t up_to(std::size_t most) noexcept {
    return static_cast<std::size_t>(number(most < 0x1'0000 ? 2 : 4) % (std::uint64_t{most} + 1));
  }

  /// The bytes of the input that no step has read yet.
  std::string_view rest() noexcept {
    const std::string_view rest(reinterpret_cast<const char*>(next_), left_);
    next_ += left_;
    left_ = 0;
    return rest;
  }

 private:
  const std::uint8_t* next_ = nullptr;
  std::size_t left_ = 0;
  bool is_random_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t steps_ = 0;
  test::RandomEngine engine_{0};
};

}  // namespace byre::programs
