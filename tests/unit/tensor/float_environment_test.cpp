// SPDX-License-Identifier: BSL-1.0
// Results do not depend on the floating-point environment of the caller. Each result is computed in
// every environment and compared bit by bit with the result in the default environment. Only the
// results of Scalar::as() and of the program's own C++ arithmetic may depend on the environment.
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/half.hpp>
#include <byre/tensor/print.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/float_environments.hpp"

namespace byre::test {
namespace {

constexpr std::array all_dtypes{DType::boolean, DType::u8,  DType::i8,       DType::i16,
                                DType::i32,     DType::i64, DType::f16,      DType::bf16,
                                DType::f32,     DType::f64, DType::complex64};

using Results = std::vector<std::pair<std::string, std::string>>;

class FloatEnvironment : public testing::TestWithParam<FloatEnvironmentKind> {
 protected:
  template <class Compute>
  static void expect_no_change(const Compute& compute) {
    const Results wanted = compute();
    const Results found = in_environment(GetParam(), compute);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      EXPECT_EQ(found[at].first, wanted[at].first);
      EXPECT_TRUE(found[at].second == wanted[at].second)
          << wanted[at].first << ": " << testing::PrintToString(found[at].second) << ", not "
          << testing::PrintToString(wanted[at].second);
    }
  }
};

/// Numbers that are subnormal, inexact, huge or not finite in at least one dtype.
// clang-format off
constexpr double special_doubles[] = {
    0x1p-1074, -0x1p-1074, 0x1.8p-1060, 0x1p-1022, 0x1.fffffffffffffp-128, -0x1p-149, 0x1.8p-140,
    0x1p-126, 0x1p-133, -0x1.fep-127, 0x1p-24, 0x1.ff8p-15, -0x1.8p-20, 0x1p-14, 0.1, -3.25390625,
    0x1.0000000000001p-8, 16777217.0, 0x1.7fp+15, 0x1.fffffep+127, -0.0,
    std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0x1p+1023};
constexpr std::int64_t special_integers[] = {
    0, 1, -1, 3, 16'777'217, -16'777'219, (std::int64_t{1} << 53) + 1, 7, INT64_MAX, INT64_MIN,
    100, -5, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
// clang-format on

/// One tensor of 24 numbers for each dtype. The numbers are converted once, in the default
/// environment.
const std::vector<Tensor>& operands() {
  static const std::vector<Tensor> all = [] {
    const Tensor doubles = Tensor::of<double>({24}, std::span<const double>(special_doubles));
    std::vector tensors{
        Tensor::of<std::int64_t>({24}, std::span<const std::int64_t>(special_integers))};
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      tensors.push_back(copy_(Tensor::empty({24}, dtype), doubles));
    }
    const Tensor floats = tensors[3].unsqueeze(1);
    tensors.push_back(cat(std::vector{floats, flip(floats, {0})}, 1).view_as_complex());
    return tensors;
  }();
  return all;
}

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw_data()), tensor.nbytes()};
}

TEST_P(FloatEnvironment, does_not_affect_conversion_of_elements) {
  expect_no_change([] {
    Results results;
    for (const Tensor& from : operands()) {
      for (const DType to : all_dtypes) {
        Tensor converted = Tensor::empty(from.sizes(), to);
        copy_(converted, from);
        results.emplace_back(std::string(name_of(from.dtype())) + " to " + name_of(to),
                             bytes_of(converted));
      }
    }
    return results;
  });
}

TEST_P(FloatEnvironment, does_not_affect_operations_on_elements) {
  expect_no_change([] {
    Results results;
    for (const Tensor& a : operands()) {
      const Tensor b = flip(a, {0});
      const auto note = [&](const char* operation, const Tensor& result) {
        results.emplace_back(operation + std::string(" of ") + name_of(a.dtype()),
                             bytes_of(result));
      };
      note("add", add(a, b));
      note("sub", sub(a, b));
      note("mul", mul(a, b));
      note("div", div(a, b));
      note("neg", neg(a));
      note("exp", exp(a));
      note("eq", eq(a, b));
      note("eq of zero", eq(a, 0));
      note("where", where(eq(a, a), a, b));
      note("sum", sum(a.narrow(0, 0, 21)));
      note("sum of subnormals", sum(a.narrow(0, 0, 10)));
      note("sum of columns", sum(a.reshape({2, 12}), {0}));
      note("matmul", matmul(a.reshape({4, 6}), b.reshape({6, 4})));
      if (a.dtype() != DType::complex64) {
        note("relu", relu(a));
        note("ge", ge(a, b));
      }
    }
    return results;
  });
}

TEST_P(FloatEnvironment, is_restored_after_an_operation) {
  const auto [before, after] = in_environment(GetParam(), [] {
    const std::uint64_t control = float_control();
    const Tensor x = operands()[3];
    (void)div(x, flip(x, {0}));
    return std::pair(control, float_control());
  });
  EXPECT_EQ(after, before);
}

TEST_P(FloatEnvironment, does_not_affect_scalar_operands) {
  expect_no_change([] {
    Results results;
    for (const DType dtype : all_dtypes) {
      const auto note = [&](const char* number, const Scalar& scalar) {
        results.emplace_back(std::string(number) + " as " + name_of(dtype),
                             bytes_of(scalar.to_tensor(dtype)));
      };
      note("subnormal f32", std::bit_cast<float>(0x0000'0001U));
      note("negative subnormal f32", std::bit_cast<float>(0x8000'0003U));
      note("subnormal bf16", BFloat16::of_bits(0x0001));
      note("subnormal f64", std::bit_cast<double>(std::uint64_t{3}));
      note("0.1", 0.1);
      note("integer", (std::int64_t{1} << 53) + 1);
    }
    return results;
  });
}

TEST_P(FloatEnvironment, does_not_affect_the_text_of_a_tensor) {
  expect_no_change([] {
    Results results;
    for (const Tensor& tensor : operands()) {
      results.emplace_back(name_of(tensor.dtype()), to_string(tensor));
      for (std::int64_t at = 0; at < tensor.numel(); ++at) {
        results.emplace_back(std::string("one ") + name_of(tensor.dtype()),
                             to_string(tensor.select(0, at)));
      }
    }
    return results;
  });
}

TEST_P(FloatEnvironment, does_not_affect_parsing_of_numbers) {
  expect_no_change([] {
    Results results;
    for (const char* const text : {"0.1", "-0.1", "1e-310", "-4.9e-324", "2e-324", "1e23", "1e400",
                                   "1e-400", "inf", "9007199254740993"}) {
      double read = 42;
      const auto [end, error] = byre::detail::double_from_chars(text, read);
      std::string result(sizeof read, '\0');
      std::memcpy(result.data(), &read, sizeof read);
      results.emplace_back(
          text, result + std::to_string(end - text) + std::to_string(static_cast<int>(error)));
    }
    return results;
  });
}

TEST_P(FloatEnvironment, does_not_affect_conversion_of_halves) {
  expect_no_change([] {
    Results results;
    std::string widened(std::size_t{65536} * sizeof(float), '\0');
    std::string narrowed;
    for (std::uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
      const float of_half = Float16::of_bits(static_cast<std::uint16_t>(bits));
      std::memcpy(widened.data() + bits * sizeof(float), &of_half, sizeof(float));
      for (const std::uint32_t rest : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x8000U}) {
        const auto value = std::bit_cast<float>(bits << 16 | rest);
        for (const std::uint16_t half : {Float16(value).bits(), BFloat16(value).bits()}) {
          narrowed += static_cast<char>(half & 0xFFU);
          narrowed += static_cast<char>(half >> 8);
        }
      }
    }
    results.emplace_back("f16 to f32", widened);
    results.emplace_back("f32 to f16 and bf16", narrowed);
    return results;
  });
}

INSTANTIATE_TEST_SUITE_P(Each, FloatEnvironment, testing::ValuesIn(float_environments),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace byre::test
