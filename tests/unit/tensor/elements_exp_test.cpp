// SPDX-License-Identifier: BSL-1.0
/// exp of many numbers at once: how near it is to e^x, and the numbers that are no ordinary ones.
#include <byre/tensor/elements/detail/exponential.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/random.hpp"

namespace byre::test {
namespace {

template <class T>
using ManyExps = void (*)(T*, const T*, std::int64_t);

/// Each way there is: by the widest vectors, and by those of every machine.
template <class T>
std::vector<ManyExps<T>> all_ways() {
  return {detail::exponentiate, detail::exponentiate_anywhere};
}

template <class T>
T one_exp(ManyExps<T> way, T x) {
  T result{};
  way(&result, &x, 1);
  return result;
}

/// How many numbers of T lie between the two.
template <class T>
std::uint64_t ulps_apart(T a, T b) {
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  const auto x = std::bit_cast<Bits>(a);
  const auto y = std::bit_cast<Bits>(b);
  return x > y ? x - y : y - x;
}

template <class T>
class ExpOf : public testing::Test {};
using ExpTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ExpOf, ExpTypes);

TYPED_TEST(ExpOf, a_number_is_within_one_ulp) {
  using T = TypeParam;
  Random random(seed());
  const T least = std::log(std::numeric_limits<T>::min());
  const T most = std::log(std::numeric_limits<T>::max());
  std::vector<T> numbers;
  for (int number = 0; number < 200'000; ++number) {
    const auto part = static_cast<T>(random.below(std::uint64_t{1} << 53)) /
                      static_cast<T>(std::uint64_t{1} << 53);
    numbers.push_back(number % 2 == 0 ? least + (most - least) * part : (part - T(0.5)) * 4);
  }
  for (const auto way : all_ways<T>()) {
    std::vector<T> results(numbers.size());
    way(results.data(), numbers.data(), static_cast<std::int64_t>(numbers.size()));
    std::uint64_t worst = 0;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      const auto wanted = static_cast<T>(std::exp(static_cast<long double>(numbers[at])));
      worst = std::max(worst, ulps_apart(results[at], wanted));
    }
    EXPECT_LE(worst, 1U);
  }
}

TYPED_TEST(ExpOf, a_number_is_the_same_at_every_place_of_every_length) {
  using T = TypeParam;
  std::vector<T> numbers(75);
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    numbers[at] = static_cast<T>(at) / 7 - 5;
  }
  for (const auto way : all_ways<T>()) {
    for (std::size_t length = 0; length <= 70; ++length) {
      for (std::size_t begin = 0; begin < 5; ++begin) {
        std::vector<T> results(numbers.size(), T(-1));
        way(results.data() + begin, numbers.data() + begin, static_cast<std::int64_t>(length));
        for (std::size_t at = 0; at < numbers.size(); ++at) {
          const bool is_in = at >= begin && at < begin + length;
          ASSERT_EQ(results[at], is_in ? one_exp(way, numbers[at]) : T(-1)) << length << " " << at;
        }
      }
    }
    std::vector<T> in_place = numbers;
    way(in_place.data(), in_place.data(), static_cast<std::int64_t>(in_place.size()));
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      EXPECT_EQ(in_place[at], one_exp(way, numbers[at]));
    }
  }
}

TYPED_TEST(ExpOf, what_is_no_ordinary_number_is_as_by_the_standard_library) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T overflows = std::log(Limits::max());
  const T vanishes = std::log(Limits::denorm_min());
  for (const auto way : all_ways<T>()) {
    for (const T x : {T(0), T(-0.0), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
                      -Limits::denorm_min(), Limits::max(), Limits::lowest(), T(1e4), T(-1e4)}) {
      EXPECT_EQ(one_exp(way, x), std::exp(x)) << x;
      EXPECT_FALSE(std::signbit(one_exp(way, x)));
    }
    EXPECT_TRUE(std::isnan(one_exp(way, Limits::quiet_NaN())));
    EXPECT_TRUE(std::isnan(one_exp(way, -Limits::quiet_NaN())));
    // Where results begin to be infinite, subnormal and 0.
    for (const T edge : {overflows, std::log(Limits::min()), vanishes}) {
      T x = edge;
      for (int step = 0; step < 40; ++step) {
        x = std::nextafter(x, Limits::lowest());
      }
      for (int step = 0; step < 80; ++step, x = std::nextafter(x, Limits::max())) {
        const T found = one_exp(way, x);
        const T wanted = std::exp(x);
        if (std::isinf(wanted) || std::isinf(found)) {
          EXPECT_GE(x, overflows - overflows * Limits::epsilon());
        } else {
          EXPECT_LE(ulps_apart(found, wanted), 1U) << x;
        }
      }
    }
    for (T x = vanishes - 1; x < overflows; x += T(0.37)) {
      EXPECT_LE(ulps_apart(one_exp(way, x), std::exp(x)), 1U) << x;
    }
  }
}

}  // namespace
}  // namespace byre::test
