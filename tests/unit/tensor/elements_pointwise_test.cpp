// SPDX-License-Identifier: BSL-1.0
/// Every pointwise operation, on every dtype and layout, against loops over single elements.
#include "elements_support.hpp"

#include <algorithm>

namespace byre::test {
namespace {

/// Counts as every integral dtype does, once it is cut to its bits.
template <class T>
std::uint64_t modular(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

/// What one element of each operation is, said in another way than the library says it.
template <class T>
struct Reference {
  static T sum(T a, T b) {
    if constexpr (is_bool<T>) {
      return a || b;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(modular(a) + modular(b));
    } else {
      return T(a + b);
    }
  }
  static T difference(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(modular(a) - modular(b));
    } else {
      return T(a - b);
    }
  }
  static T product(T a, T b) {
    if constexpr (is_bool<T>) {
      return a && b;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(modular(a) * modular(b));
    } else {
      return T(a * b);
    }
  }
  static T negative(T a) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(-modular(a));
    } else {
      return T(-a);
    }
  }
  static T positive_part(T a) {
    if constexpr (is_complex<T>) {
      return a;
    } else {
      return a < T(0) ? T(0) : a;
    }
  }
};

/// f32 for what is no floating-point or complex number.
template <class T>
using Floating = std::conditional_t<std::is_integral_v<T>, float, T>;

template <class T>
Floating<T> quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<float>(a) / static_cast<float>(b);
  } else {
    return T(a / b);
  }
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

template <class T, class Check>
void for_each_sample(Check check) {
  for (const auto& shape : all_samples<T>()) {
    for (const Sample& a : shape) {
      SCOPED_TRACE(a.name);
      check(a.tensor);
    }
  }
}

/// Both forms of a binary operation; in place into every layout that may be written.
template <class T, class Operation, class InPlace, class Expected>
void check_binary(Operation operation, InPlace in_place, Expected expected) {
  using Result = decltype(expected(T{}, T{}));
  for_each_pair<T>([&](const Tensor& a, const Tensor& b) {
    const auto element = [&](const Dims& at_indices) {
      return expected(at<T>(a, at_indices), at<T>(b, at_indices));
    };
    expect_elements<Result>(operation(a, b), a.sizes(), element);
    if constexpr (std::is_same_v<Result, T>) {
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

template <class T, class Operation, class InPlace, class Expected>
void check_unary(Operation operation, InPlace in_place, Expected expected) {
  using Result = decltype(expected(T{}));
  for_each_sample<T>([&](const Tensor& a) {
    const auto element = [&](const Dims& indices) { return expected(at<T>(a, indices)); };
    expect_elements<Result>(operation(a), a.sizes(), element);
    if constexpr (std::is_same_v<Result, T>) {
      if (byre::may_overlap_itself(a.layout())) {
        EXPECT_THROW(in_place(a.alias()), byre::ShapeError);
        return;
      }
      Tensor written = a.lazy_clone();
      in_place(written);
      expect_elements<T>(written, a.sizes(), element);
    }
  });
}

// NOLINTNEXTLINE: names an overload set.
#define BYRE_BINARY(name)                                            \
  [](const Tensor& a, const Tensor& b) { return byre::name(a, b); }, \
      [](Tensor self, const Tensor& other) { return byre::name##_(self, other); }
#define BYRE_UNARY(name) \
  [](const Tensor& a) { return byre::name(a); }, [](Tensor self) { return byre::name##_(self); }

TYPED_TEST(PointwiseTest, add_adds) {
  check_binary<TypeParam>(BYRE_BINARY(add), Reference<TypeParam>::sum);
}

TYPED_TEST(PointwiseTest, sub_subtracts_all_but_bools) {
  if constexpr (is_bool<TypeParam>) {
    const Tensor a = telling<bool>({3});
    Tensor written = a.clone();
    EXPECT_EQ(
        complaint_of<byre::DTypeError>([&] { sub(a, a); }),
        "sub has no meaning for bool, the dtype that its operands promote to. Convert one of them "
        "first: copy_ to a tensor of another dtype.");
    EXPECT_THROW(sub_(written, a), byre::DTypeError);
  } else {
    check_binary<TypeParam>(BYRE_BINARY(sub), Reference<TypeParam>::difference);
  }
}

TYPED_TEST(PointwiseTest, mul_multiplies) {
  check_binary<TypeParam>(BYRE_BINARY(mul), Reference<TypeParam>::product);
}

TYPED_TEST(PointwiseTest, div_divides_truly) {
  check_binary<TypeParam>(BYRE_BINARY(div), quotient<TypeParam>);
}

TYPED_TEST(PointwiseTest, neg_negates_all_but_bools) {
  if constexpr (is_bool<TypeParam>) {
    EXPECT_THROW(neg(telling<bool>({3})), byre::DTypeError);
  } else {
    check_unary<TypeParam>(BYRE_UNARY(neg), Reference<TypeParam>::negative);
  }
}

TYPED_TEST(PointwiseTest, relu_keeps_what_is_positive_and_what_is_not_a_number) {
  if constexpr (is_bool<TypeParam> || is_complex<TypeParam>) {
    EXPECT_THROW(relu(telling<TypeParam>({3})), byre::DTypeError);
  } else {
    check_unary<TypeParam>(BYRE_UNARY(relu), Reference<TypeParam>::positive_part);
  }
}

TYPED_TEST(PointwiseTest, exp_is_the_exponential_function) {
  // Of f32 and f64 the last bit may be another: what each element is, elements_exp_test.cpp says of many. Here it
  // is the same wherever the element lies.
  if constexpr (std::is_same_v<TypeParam, float> || std::is_same_v<TypeParam, double>) {
    check_unary<TypeParam>(BYRE_UNARY(exp), [](TypeParam a) {
      return at<TypeParam>(byre::exp(Tensor::of<TypeParam>({}, std::span(&a, 1))), {});
    });
  } else {
    check_unary<TypeParam>(BYRE_UNARY(exp), exponential<TypeParam>);
  }
}

TYPED_TEST(PointwiseTest, eq_says_which_are_equal) {
  for_each_pair<TypeParam>([&](const Tensor& a, const Tensor& b) {
    expect_elements<bool>(eq(a, b), a.sizes(), [&](const Dims& indices) {
      return at<TypeParam>(a, indices) == at<TypeParam>(b, indices);
    });
  });
}

TYPED_TEST(PointwiseTest, ge_says_which_are_not_less_but_of_complex) {
  if constexpr (is_complex<TypeParam>) {
    const Tensor a = telling<TypeParam>({3});
    EXPECT_TRUE(
        says(complaint_of<byre::DTypeError>([&] { ge(a, a); }), "ge has no meaning for complex64"));
  } else {
    for_each_pair<TypeParam>([&](const Tensor& a, const Tensor& b) {
      expect_elements<bool>(ge(a, b), a.sizes(), [&](const Dims& indices) {
        return at<TypeParam>(a, indices) >= at<TypeParam>(b, indices);
      });
    });
  }
}

TYPED_TEST(PointwiseTest, where_chooses_and_keeps_what_it_chooses) {
  for_each_pair<TypeParam>([&](const Tensor& a, const Tensor& b) {
    const Tensor condition = telling<bool>(a.sizes());
    expect_elements<TypeParam>(where(condition, a, b), a.sizes(), [&](const Dims& indices) {
      return at<TypeParam>(at<bool>(condition, indices) ? a : b, indices);
    });
  });
}

TYPED_TEST(PointwiseTest, operands_broadcast) {
  const Tensor column = telling<TypeParam>({2, 3, 1}, 1);
  const Tensor row = telling<TypeParam>({4}, 5);
  expect_elements<TypeParam>(add(column, row), {2, 3, 4}, [&](const Dims& at_indices) {
    return Reference<TypeParam>::sum(at<TypeParam>(column, {at_indices[0], at_indices[1], 0}),
                                     at<TypeParam>(row, {at_indices[2]}));
  });
  EXPECT_EQ(add(telling<TypeParam>({0, 1}), row).sizes(), (Dims{0, 4}));
  EXPECT_EQ(add(telling<TypeParam>({}), row).sizes(), (Dims{4}));
}

}  // namespace
}  // namespace byre::test
