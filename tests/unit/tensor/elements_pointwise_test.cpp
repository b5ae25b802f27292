// SPDX-License-Identifier: BSL-1.0
/// Every pointwise operation, on every dtype and layout, compared with loops over single elements.
#include "elements_support.hpp"

#include <functional>

namespace byre::test {
namespace {

/// Computes one element of the result of an operation, by other means than the library. Integers
/// wrap around; for bools, + is a logical or, and * is a logical and.
template <class T, class Operation, class... Operands>
T one_element(Operation operation, Operands... operands) {
  if constexpr (is_bool<T>) {
    return operation(static_cast<int>(operands)...) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(
        operation(static_cast<std::uint64_t>(static_cast<std::int64_t>(operands))...));
  } else {
    return T(operation(operands...));
  }
}

template <class T>
T sum_of(T a, T b) {
  return one_element<T>(std::plus(), a, b);
}

/// The type in which T is divided: float for integers and bools, otherwise T.
template <class T>
using Floating = std::conditional_t<std::is_integral_v<T>, float, T>;

template <class T>
Floating<T> quotient(T a, T b) {
  return Floating<T>(static_cast<Floating<T>>(a) / static_cast<Floating<T>>(b));
}

template <class T>
Floating<T> exponential(T a) {
  if constexpr (is_complex<T> || std::is_same_v<T, double>) {
    return std::exp(a);
  } else {
    return Floating<T>(std::exp(static_cast<float>(a)));
  }
}

template <class T>
class PointwiseTest : public testing::Test {};
TYPED_TEST_SUITE(PointwiseTest, AllTypes);

template <class T, class Check>
void for_each_pair(Check check) {
  const auto firsts = all_samples<T>(0);
  const auto seconds = all_samples<T>(2);
  for (std::size_t shape = 0; shape < firsts.size(); ++shape) {
    for (const Sample& a : firsts[shape]) {
      for (const Sample& b : seconds[shape]) {
        SCOPED_TRACE(a.name + " with " + b.name);
        check(a.tensor, b.tensor);
      }
    }
  }
}

/// Tests a binary operation that returns a new tensor, for every layout, and its in-place form, for
/// every layout whose elements do not share memory.
template <class T, class Operation, class InPlace, class Expected>
void check_binary(Operation operation, InPlace in_place, Expected expected) {
  using Result = decltype(expected(T{}, T{}));
  for_each_pair<T>([&](const Tensor& a, const Tensor& b) {
    const auto element = [&](const Dims& at_indices) {
      return expected(at<T>(a, at_indices), at<T>(b, at_indices));
    };
    expect_elements<Result>(operation(a, b), a.sizes(), element);
    if constexpr (std::is_same_v<Result, T> && !std::is_null_pointer_v<InPlace>) {
      if (byre::may_overlap_itself(a.layout())) {
        EXPECT_THROW(in_place(a.alias(), b), byre::ShapeError);
        return;
      }
      const Tensor before = a.clone();
      Tensor written = a.lazy_clone();
      EXPECT_TRUE(in_place(written, b).aliases(written));
      expect_elements<T>(written, a.sizes(), element);
      expect_elements<T>(a, a.sizes(), [&](const Dims& indices) { return at<T>(before, indices); });
    }
  });
}

/// Tests a unary operation as a binary one that ignores its second operand.
template <class T, class Operation, class InPlace, class Expected>
void check_unary(Operation operation, InPlace in_place, Expected expected) {
  check_binary<T>([&](auto& a, auto&) { return operation(a); },
                  [&](const Tensor& self, auto&) { return in_place(self); },
                  [&](T a, T) { return expected(a); });
}

// NOLINTNEXTLINE: names an overload set.
#define BYRE_BINARY(name)                                            \
  [](const Tensor& a, const Tensor& b) { return byre::name(a, b); }, \
      [](Tensor self, const Tensor& other) { return byre::name##_(self, other); }
#define BYRE_UNARY(name) \
  [](const Tensor& a) { return byre::name(a); }, [](Tensor self) { return byre::name##_(self); }

TYPED_TEST(PointwiseTest, add_returns_sums) {
  check_binary<TypeParam>(BYRE_BINARY(add), sum_of<TypeParam>);
}

TYPED_TEST(PointwiseTest, sub_returns_differences_and_rejects_bools) {
  if constexpr (is_bool<TypeParam>) {
    const Tensor a = test_values<bool>({3});
    EXPECT_THROW(sub_(a.clone(), a), byre::DTypeError);  // elements_promotion_test.cpp has the text
  } else {
    check_binary<TypeParam>(BYRE_BINARY(sub), [](TypeParam a, TypeParam b) {
      return one_element<TypeParam>(std::minus(), a, b);
    });
  }
}

TYPED_TEST(PointwiseTest, mul_returns_products) {
  check_binary<TypeParam>(BYRE_BINARY(mul), [](TypeParam a, TypeParam b) {
    return one_element<TypeParam>(std::multiplies(), a, b);
  });
}

TYPED_TEST(PointwiseTest, div_returns_floating_point_quotients) {
  check_binary<TypeParam>(BYRE_BINARY(div), quotient<TypeParam>);
}

TYPED_TEST(PointwiseTest, neg_negates_elements_and_rejects_bools) {
  if constexpr (is_bool<TypeParam>) {
    EXPECT_THROW(neg(test_values<bool>({3})), byre::DTypeError);
  } else {
    check_unary<TypeParam>(BYRE_UNARY(neg),
                           [](TypeParam a) { return one_element<TypeParam>(std::negate(), a); });
  }
}

TYPED_TEST(PointwiseTest, relu_zeroes_negative_numbers_and_preserves_nan) {
  if constexpr (is_bool<TypeParam> || is_complex<TypeParam>) {
    EXPECT_THROW(relu(test_values<TypeParam>({3})), byre::DTypeError);
  } else {
#if defined(__wasm__)
    GTEST_SKIP() << "clang 14 compiles std::max(-0.0, 0.0) to an instruction that gives 0.0";
#endif
    check_unary<TypeParam>(BYRE_UNARY(relu),
                           [](TypeParam a) { return a < TypeParam(0) ? TypeParam(0) : a; });
  }
}

TYPED_TEST(PointwiseTest, exp_is_the_exponential_function) {
  // Results of f32 and f64 may differ from std::exp in the last bit; elements_kernels_test.cpp
  // tests their accuracy. For these dtypes, this test expects that a result does not depend on the
  // position of its element.
  if constexpr (std::is_same_v<TypeParam, float> || std::is_same_v<TypeParam, double>) {
    check_unary<TypeParam>(BYRE_UNARY(exp), [](TypeParam a) {
      return at<TypeParam>(byre::exp(Tensor::of<TypeParam>({}, std::span(&a, 1))), {});
    });
  } else {
    check_unary<TypeParam>(BYRE_UNARY(exp), exponential<TypeParam>);
  }
}

TYPED_TEST(PointwiseTest, eq_compares_for_equality) {
  check_binary<TypeParam>([](auto& a, auto& b) { return eq(a, b); }, nullptr,
                          [](TypeParam a, TypeParam b) { return a == b; });
}

TYPED_TEST(PointwiseTest, ge_compares_by_order_and_rejects_complex_numbers) {
  if constexpr (is_complex<TypeParam>) {
    const Tensor a = test_values<TypeParam>({3});
    EXPECT_TRUE(
        says(complaint_of<byre::DTypeError>([&] { ge(a, a); }), "ge does not support complex64"));
  } else {
    check_binary<TypeParam>([](auto& a, auto& b) { return ge(a, b); }, nullptr,
                            [](TypeParam a, TypeParam b) { return a >= b; });
  }
}

TYPED_TEST(PointwiseTest, where_selects_each_element_by_the_condition) {
  for_each_pair<TypeParam>([&](const Tensor& a, const Tensor& b) {
    const Tensor condition = test_values<bool>(a.sizes());
    expect_elements<TypeParam>(where(condition, a, b), a.sizes(), [&](const Dims& indices) {
      return at<TypeParam>(at<bool>(condition, indices) ? a : b, indices);
    });
  });
}

TYPED_TEST(PointwiseTest, operands_broadcast_to_common_sizes) {
  const Tensor column = test_values<TypeParam>({2, 3, 1}, 1);
  const Tensor row = test_values<TypeParam>({4}, 5);
  expect_elements<TypeParam>(add(column, row), {2, 3, 4}, [&](const Dims& at_indices) {
    return sum_of(at<TypeParam>(column, {at_indices[0], at_indices[1], 0}),
                  at<TypeParam>(row, {at_indices[2]}));
  });
  EXPECT_EQ(add(test_values<TypeParam>({0, 1}), row).sizes(), (Dims{0, 4}));
  EXPECT_EQ(add(test_values<TypeParam>({}), row).sizes(), (Dims{4}));
}

}  // namespace
}  // namespace byre::test
