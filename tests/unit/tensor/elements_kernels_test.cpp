// SPDX-License-Identifier: BSL-1.0
/// Kernels that compute many elements at once: the accuracy of exp, and rows that are about as long
/// as the pieces into which sums and operands that repeat an element are split.
#include <byre/tensor/elements/detail/exponential.hpp>
#include <byre/tensor/elements/detail/lane_sums.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "elements_support.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

template <class T>
using ManyExps = void (*)(T*, const T*, std::int64_t);

/// Both implementations of exp: with the widest vectors of this machine, and with vectors that
/// every machine has.
template <class T>
std::vector<ManyExps<T>> all_ways() {
  return {detail::exponentiate, detail::exponentiate_portable};
}

template <class T>
T one_exp(ManyExps<T> way, T x) {
  T result{};
  way(&result, &x, 1);
  return result;
}

/// The distance of two numbers in units in the last place (ulps).
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

TYPED_TEST(ExpOf, results_are_within_one_ulp) {
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

TYPED_TEST(ExpOf, a_result_does_not_depend_on_the_position_or_array_length) {
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

TYPED_TEST(ExpOf, results_for_special_values_equal_std_exp) {
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
    // Arguments around the limits at which results become infinite, subnormal and 0.
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

template <class T>
class LongRows : public testing::Test {};
using LongRowTypes = testing::Types<float, double, std::int64_t, std::int8_t, std::complex<float>>;
TYPED_TEST_SUITE(LongRows, LongRowTypes);

TYPED_TEST(LongRows, sums_are_exact_for_any_length) {
  using T = TypeParam;
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  const Tensor all = whole_numbers<T>({9000}, 5);
  const Tensor apart = whole_numbers<T>({9000, 2}, 5).select(1, 1);
  for (std::int64_t length :
       {1,    7,    31,   32,   33,   63,   64,   65,   127,  128,  1023, 1024, 1025,
        2047, 2048, 2049, 2080, 4095, 4096, 4097, 6143, 6144, 8191, 8192, 8193, 8999}) {
    for (const Tensor& from : {all, apart}) {
      const Tensor part = from.slice(0, 1, 1 + length);
      Sum wanted{};
      for (std::int64_t i = 0; i < length; ++i) {
        wanted += Sum(part.data<T>()[i * part.strides()[0]]);
      }
      EXPECT_EQ(at<Sum>(sum(part), {}), wanted) << length;
    }
  }
}

TYPED_TEST(LongRows, sums_of_columns_are_exact_for_any_length) {
  using T = TypeParam;
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  for (const std::int64_t columns : {7, 8, 31, 32, 33, 64, 65, 130}) {
    for (const std::int64_t rows : {1, 2, 3, 31, 32, 33, 100}) {
      const Tensor a = rows == 3
                           ? whole_numbers<T>({columns, 4}, 3).slice(1, 0, 3).t()
                           : whole_numbers<T>({rows, columns + 1}, 3).slice(1, 1, columns + 1);
      const Tensor sums = sum(a, {0}, false);
      for (std::int64_t column = 0; column < columns; ++column) {
        Sum wanted{};
        for (std::int64_t row = 0; row < rows; ++row) {
          wanted += Sum(at<T>(a, {row, column}));
        }
        ASSERT_EQ(at<Sum>(sums, {column}), wanted) << rows << " " << columns << " " << column;
      }
    }
  }
}

TYPED_TEST(LongRows, add_accepts_a_scalar_or_one_element_per_row) {
  using T = TypeParam;
  for (const std::int64_t length :
       {255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 8191, 8193}) {
    Tensor a = whole_numbers<T>({3, length}, 40);
    const Tensor before = a.clone();
    const Tensor column = whole_numbers<T>({3, 1}, 11);
    const Tensor by_row = add(a, column);
    const Tensor by_both = add(column, column.expand({3, length}));
    add_(a, 3);
    for (std::int64_t i = 0; i < 3 * length; ++i) {
      const T element = before.data<T>()[i];
      const T own = column.data<T>()[i / length];
      ASSERT_EQ(a.data<T>()[i], T(element + T(3))) << length << " " << i;
      ASSERT_EQ(by_row.data<T>()[i], T(element + own)) << length << " " << i;
      ASSERT_EQ(by_both.data<T>()[i], T(own + own)) << length << " " << i;
    }
  }
}

TEST(LongSums, the_rounding_error_is_small_for_many_terms) {
  Tensor tenths = Tensor::empty({3'000'001}, DType::f32);
  fill_(tenths, 0.1);
  EXPECT_NEAR(at<float>(sum(tenths), {}), 300'000.1F, 0.1F);
  const Tensor columns = tenths.slice(0, 0, 3'000'000).reshape({100'000, 30});
  const Tensor of_columns = sum(columns, {0}, false);
  for (std::int64_t column = 0; column < 30; ++column) {
    EXPECT_NEAR(at<float>(of_columns, {column}), 10'000.0F, 0.01F);
  }
}

TEST(LongSums, vectors_of_every_width_give_equal_sums) {
  std::vector<float> rows(64 * 40);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = 1.0F / static_cast<float>(i + 1);
  }
  std::vector<float> wide(64, 0.5F);
  std::vector<float> portable = wide;
  const auto add = [&](byre::detail::AddRows way, std::vector<float>& sums) {
    way(reinterpret_cast<std::byte*>(sums.data()), reinterpret_cast<const std::byte*>(rows.data()),
        byre::detail::lanes_nbytes, 40);
  };
  add(&byre::detail::RowsAdder<float>::portable, portable);
  add(byre::detail::adder_of_rows<float>(), wide);
  EXPECT_EQ(wide, portable);
  for (std::size_t lane = 0; lane < 64; ++lane) {
    float wanted = 0.5F;
    for (std::size_t row = 0; row < 40; ++row) {
      wanted += rows[row * 64 + lane];
    }
    EXPECT_EQ(portable[lane], wanted);
  }
}

}  // namespace
}  // namespace byre::test
