// SPDX-License-Identifier: BSL-1.0
/// Random numbers for tests. A seed yields equal numbers on every platform.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace byre::test {

/// The number in BYRE_TEST_SEED in the environment, or else a random number. Prints it, so that a
/// failure can be replayed.
std::uint64_t seed();

/// SplitMix64 (Steele, Lea and Flood, 2014). Consecutive seeds yield unrelated numbers.
class RandomEngine {
 public:
  using result_type = std::uint64_t;

  explicit constexpr RandomEngine(std::uint64_t seed) noexcept : state_(seed) {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  constexpr result_type operator()() noexcept {
    std::uint64_t bits = state_ += 0x9E37'79B9'7F4A'7C15;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EB;
    return bits ^ bits >> 31;
  }

 private:
  std::uint64_t state_;
};

/// Random numbers, for one thread. The numbers are close to uniform, which is sufficient for tests.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : engine_(seed) {}

  /// A number from `least` to `most`, both included.
  template <std::integral Number>
  constexpr Number number(Number least, Number most) {
    const auto count = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    const std::uint64_t drawn = count == 0 ? engine_() : engine_() % count;
    return static_cast<Number>(static_cast<std::uint64_t>(least) + drawn);
  }
  /// A number from 0 to `bound` - 1, or 0 if `bound` is 0.
  template <std::integral Number>
  constexpr Number below(Number bound) {
    return bound == 0 ? Number{0} : number(Number{0}, static_cast<Number>(bound - 1));
  }
  constexpr bool chance(unsigned percent) { return below(100U) < percent; }
  constexpr bool flag() { return chance(50); }

  template <class T>
  constexpr T one_of(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }
  /// A random element of an array, a vector or a span.
  template <class Range>
  constexpr auto& one_of(Range&& all) {
    return std::begin(all)[static_cast<std::ptrdiff_t>(below(std::size(all)))];
  }
  /// A random element of `all`, with a probability proportional to its member `weight`.
  template <class Range>
  constexpr auto& one_by_weight(Range&& all) {
    std::uint64_t sum = 0;
    for (const auto& each : all) {
      sum += static_cast<std::uint64_t>(each.weight);
    }
    auto drawn = below(sum);
    auto chosen = std::begin(all);
    for (; drawn >= static_cast<std::uint64_t>(chosen->weight); ++chosen) {
      drawn -= static_cast<std::uint64_t>(chosen->weight);
    }
    return *chosen;
  }
  template <class Range>
  constexpr void shuffle(Range& all) {
    for (std::size_t left = std::size(all); left > 1; --left) {
      using std::swap;
      swap(all[left - 1], all[below(left)]);
    }
  }

  constexpr RandomEngine& engine() noexcept { return engine_; }

 private:
  RandomEngine engine_;
};

}  // namespace byre::test
