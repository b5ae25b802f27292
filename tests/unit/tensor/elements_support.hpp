// SPDX-License-Identifier: BSL-1.0
/// Helpers for tests of operations on elements: tensors of every layout that contain special
/// values, and functions that read and compare single elements.
#pragma once

#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/convert.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/complaint.hpp"
#include "support/function_ref.hpp"

namespace byre::test {

using byre::Dims;
using byre::DType;
using byre::Tensor;

using AllTypes =
    ::testing::Types<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                     byre::Float16, byre::BFloat16, float, double, std::complex<float>>;

using detail::is_complex;
using detail::is_half;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;

/// Value `index` of a repeating list of zeros of both signs, fractions, extremes, infinities and
/// NaN. Because the list repeats, two tensors that start at different indices contain all pairs of
/// values.
template <class T>
T test_value(std::size_t index) {
  if constexpr (std::is_integral_v<T>) {
    constexpr std::array<T, 7> values{T(0),
                                      T(1),
                                      std::numeric_limits<T>::max(),
                                      T(3),
                                      std::numeric_limits<T>::min(),
                                      T(100),
                                      T(std::is_signed_v<T> ? -5 : 5)};
    return values[index % values.size()];
  } else {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr std::array<float, 11> values{0.0F, 1.5F,     -2.0F,     -0.0F,   65504.0F, 3.1415927F,
                                           NAN,  infinity, -infinity, 1.0e-7F, -0.33F};
    if constexpr (is_complex<T>) {
      return {values[index % 5], values[(index / 5 + index) % 4]};
    } else {
      return T(values[index % values.size()]);
    }
  }
}

/// A tensor whose element number i in row-major order is element(i).
template <class T>
Tensor generated(const Dims& sizes, std::type_identity_t<FunctionRef<T(std::size_t)>> element) {
  Tensor tensor = Tensor::empty(sizes, byre::dtype_of<T>);
  std::generate_n(tensor.mutable_data<T>(), tensor.numel(),
                  [&, i = std::size_t{0}]() mutable { return element(i++); });
  return tensor;
}

template <class T>
Tensor test_values(const Dims& sizes, std::size_t start = 0) {
  return generated<T>(sizes, [=](std::size_t i) { return test_value<T>(i + start); });
}

/// Integers below `modulus`. If `modulus` is small, sums and products are exact in every dtype
/// except bool.
template <class T>
Tensor whole_numbers(const Dims& sizes, unsigned modulus, unsigned start = 0, unsigned step = 7) {
  return generated<T>(sizes, [=](std::size_t i) {
    return T(static_cast<float>((std::uint64_t{i} * step + start) % modulus));
  });
}

struct Sample {
  std::string name;
  Tensor tensor;
};

/// Tensors of sizes [3, 4], one in each kind of layout that the loops treat differently.
template <class T>
std::vector<Sample> samples_of_3_by_4(std::size_t start = 0) {
  return {{"contiguous", test_values<T>({3, 4}, start)},
          {"transposed", test_values<T>({4, 3}, start).t()},
          {"sliced", test_values<T>({7, 9}, start).slice(0, 1, 6, 2).slice(1, 0, 8, 2)},
          {"offset", test_values<T>({5, 4}, start).narrow(0, 2, 3)},
          {"expanded along rows", test_values<T>({1, 4}, start).expand({3, 4})},
          {"expanded along columns", test_values<T>({3, 1}, start).expand({3, 4})}};
}

/// Tensors of other shapes: of more than one block, without elements, and without dimensions. The
/// tensors of each shape differ in layout.
template <class T>
std::vector<std::vector<Sample>> samples_of_other_shapes(std::size_t start = 0) {
  return {{{"long", test_values<T>({700}, start)},
           {"long, strided", test_values<T>({1400}, start).slice(0, 0, 1400, 2)},
           {"long, expanded", test_values<T>({1}, start).expand({700})}},
          {{"empty", test_values<T>({0, 4}, start)},
           {"empty, transposed", test_values<T>({4, 0}, start).t()}},
          {{"0-d", test_values<T>({}, start + 1)},
           {"0-d, selected", test_values<T>({6}, start).select(0, 4)}}};
}

template <class T>
std::vector<std::vector<Sample>> all_samples(std::size_t start = 0) {
  auto samples = samples_of_other_shapes<T>(start);
  samples.push_back(samples_of_3_by_4<T>(start));
  return samples;
}

template <class T>
T at(const Tensor& tensor, const Dims& indices) {
  return tensor.data<T>()[element_at(tensor.layout(), indices, "at") - tensor.storage_offset()];
}

inline void for_each_index(const Dims& sizes, FunctionRef<void(const Dims&)> visit) {
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      return;
    }
  }
  Dims indices(sizes.size(), 0);
  for (;;) {
    visit(indices);
    std::size_t axis = sizes.size();
    while (axis > 0 && ++indices[axis - 1] == sizes[axis - 1]) {
      indices[--axis] = 0;
    }
    if (axis == 0) {
      return;
    }
  }
}

/// True if the numbers and their signs are equal, or both are NaN. -0 does not equal 0.
template <class T>
bool is_same(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else if constexpr (is_complex<T>) {
    return is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
  } else {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  }
}

inline void report_difference(const Dims& indices, const std::string& found,
                              const std::string& wanted) {
  ADD_FAILURE() << "at " << to_string(indices) << ": " << found << ", not " << wanted;
}

/// Expects the dtype of T, these sizes, and the elements that `expected(indices)` returns.
template <class T>
void expect_elements(const Tensor& tensor, const Dims& sizes,
                     std::type_identity_t<FunctionRef<T(const Dims&)>> expected) {
  ASSERT_EQ(tensor.dtype(), byre::dtype_of<T>)
      << byre::name_of(tensor.dtype()) << ", expected " << byre::name_of(byre::dtype_of<T>);
  ASSERT_EQ(tensor.sizes(), sizes) << to_string(tensor.sizes()) << to_string(sizes);
  for_each_index(sizes, [&](const Dims& indices) {
    const T found = at<T>(tensor, indices);
    const T wanted = expected(indices);
    if (!is_same(found, wanted)) {
      report_difference(indices, testing::PrintToString(found), testing::PrintToString(wanted));
    }
  });
}

}  // namespace byre::test
