// SPDX-License-Identifier: BSL-1.0
/// The dtypes of computations and results, and the conversion of elements.
#include "elements_support.hpp"

#include <byre/tensor/promotion.hpp>

#include <algorithm>
#include <sstream>

namespace byre::test {
namespace {

constexpr std::size_t dtypes = byre::detail::dtype_count;

DType dtype_number(std::size_t number) {
  return static_cast<DType>(number);
}

TEST(PromotionTest, dtypes_promote_as_in_the_table) {
  // Rows and columns are in the order of DType.
  std::istringstream table(R"(
      bool  u8    i8    i16   i32   i64   f16   bf16  f32   f64   complex64
      u8    u8    i16   i16   i32   i64   f16   bf16  f32   f64   complex64
      i8    i16   i8    i16   i32   i64   f16   bf16  f32   f64   complex64
      i16   i16   i16   i16   i32   i64   f16   bf16  f32   f64   complex64
      i32   i32   i32   i32   i32   i64   f16   bf16  f32   f64   complex64
      i64   i64   i64   i64   i64   i64   f16   bf16  f32   f64   complex64
      f16   f16   f16   f16   f16   f16   f16   f32   f32   f64   complex64
      bf16  bf16  bf16  bf16  bf16  bf16  f32   bf16  f32   f64   complex64
      f32   f32   f32   f32   f32   f32   f32   f32   f32   f64   complex64
      f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   complex64
      complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64
      complex64 complex64 complex64)");
  for (std::size_t a = 0; a < dtypes; ++a) {
    for (std::size_t b = 0; b < dtypes; ++b) {
      std::string wanted;
      ASSERT_TRUE(table >> wanted);
      const Tensor left = Tensor::zeros({2}, dtype_number(a));
      const Tensor right = Tensor::zeros({2}, dtype_number(b));
      EXPECT_EQ(byre::name_of(byre::promoted(dtype_number(a), dtype_number(b))), wanted);
      EXPECT_EQ(byre::name_of(add(left, right).dtype()), wanted);
      EXPECT_EQ(byre::name_of(where(eq(left, right), left, right).dtype()), wanted);
      EXPECT_EQ(byre::name_of(byre::cat({left, right}).dtype()), wanted);
      EXPECT_EQ(byre::name_of(matmul(left, right).dtype()), wanted);
    }
  }
}

TEST(PromotionTest, operands_are_computed_in_the_promoted_dtype) {
  const Tensor bytes = Tensor::of<std::uint8_t>({2}, {200, 255});
  const Tensor chars = Tensor::of<std::int8_t>({2}, {-1, 127});
  expect_elements<std::int16_t>(add(bytes, chars), {2}, [](const Dims& i) {
    return static_cast<std::int16_t>(i[0] == 0 ? 199 : 382);
  });
  const Tensor half = Tensor::of<byre::Float16>({1}, {byre::Float16(60000.0F)});
  const Tensor brain = Tensor::of<byre::BFloat16>({1}, {byre::BFloat16(60000.0F)});
  EXPECT_EQ(add(half, brain).at<float>({0}), 60000.0F + float(byre::BFloat16(60000.0F)));
}

TEST(PromotionTest, operations_on_halves_and_integers_round_only_the_result) {
  using byre::Float16;
  const Tensor halves = Tensor::of<Float16>({1}, {Float16(2346.0F)});
  const Tensor shorts = Tensor::of<std::int16_t>({1}, {5003});
  ASSERT_EQ(float(Float16(5003.0F)), 5004.0F);  // exact in i16, rounded in f16
  const auto value = [](const Tensor& x) { return float(x.at<Float16>({0})); };
  EXPECT_EQ(value(add(halves, shorts)), 7348.0F);  // rounded from 7349; from 7350 it would be 7352
  EXPECT_EQ(value(add(shorts, halves)), 7348.0F);
  EXPECT_EQ(value(sub(halves, shorts)), -2656.0F);  // rounded from -2657, not from -2658
  EXPECT_EQ(value(mul(Tensor::of<Float16>({1}, {Float16(0.5F)}), shorts)), 2502.0F);  // from 2501.5
  EXPECT_FALSE(eq(Tensor::of<Float16>({1}, {Float16(5004.0F)}), shorts).at<bool>({0}));
  Tensor written = halves.clone();
  EXPECT_EQ(value(add_(written, shorts)), 7348.0F);
  EXPECT_EQ(value(add(halves, 5003)), 7352.0F);  // a C++ number is rounded to the tensor's dtype
  EXPECT_EQ(value(add_(written = halves.clone(), 5003)), 7352.0F);
  const Tensor brains = Tensor::of<byre::BFloat16>({1}, {byre::BFloat16(2.0F)});
  EXPECT_EQ(float(sub(shorts, mul(brains, 0.0F)).at<byre::BFloat16>({0})), 4992.0F);
}

TEST(PromotionTest, sub_accepts_bool_with_another_dtype_and_rejects_two_bools) {
  const Tensor truths = Tensor::of<bool>({2}, {true, false});
  const Tensor floats = Tensor::of<float>({2}, {5, 5});
  EXPECT_EQ(sub(floats, truths).at<float>({0}), 4.0F);
  EXPECT_EQ(sub(truths, floats).at<float>({1}), -5.0F);
  EXPECT_EQ(sub(truths, 1).at<std::int64_t>({1}), -1);
  EXPECT_EQ(complaint_of<byre::DTypeError>([&] { sub(truths, truths); }),
            "sub does not support bool, the promoted dtype of its operands. Convert one of them "
            "first, by copy_() to a tensor of another dtype.");
}

TEST(PromotionTest, results_are_contiguous_for_any_strides_of_operands) {
  const Tensor x = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5}).t();
  ASSERT_FALSE(x.is_contiguous());
  for (const Tensor& result :
       {add(x, x), sub(x, 1), mul(2, x), div(x, x), neg(x), relu(x), exp(x), eq(x, x), ge(x, 1),
        where(eq(x, x), x, x), matmul(x, x.t()), byre::cat({x, x}), flip(x, {0}), sum(x, Dims{0}),
        x.clone(), x.contiguous()}) {
    EXPECT_TRUE(result.is_contiguous());
    EXPECT_FALSE(result.aliases(x));
  }
}

TEST(PromotionTest, numbers_take_the_dtype_of_a_tensor_of_equal_category) {
  for (std::size_t number = 0; number < dtypes; ++number) {
    const DType dtype = dtype_number(number);
    Tensor ones = Tensor::empty({2}, dtype);
    fill_(ones, 1);
    const auto category = byre::category_of(dtype);
    EXPECT_EQ(add(ones, true).dtype(), dtype);
    EXPECT_EQ(add(ones, 1).dtype(), dtype == DType::boolean ? DType::i64 : dtype);
    EXPECT_EQ(mul(0.5, ones).dtype(), category < byre::Category::floating ? DType::f32 : dtype);
    EXPECT_EQ(mul(ones, std::complex<float>(0, 1)).dtype(), DType::complex64);
  }
}

TEST(PromotionTest, a_number_may_be_the_left_or_the_right_operand) {
  const Tensor x = Tensor::of<float>({2}, {4.0F, -8.0F});
  struct Case {
    Tensor found;
    float first;
    float second;
  };
  for (const auto& [found, first, second] :
       {Case{add(x, 1), 5, -7}, Case{add(1, x), 5, -7}, Case{sub(x, 1), 3, -9},
        Case{sub(1, x), -3, 9}, Case{mul(x, 0.5), 2, -4}, Case{mul(0.5, x), 2, -4},
        Case{div(x, 2), 2, -4}, Case{div(2, x), 0.5F, -0.25F}, Case{add_(x.clone(), 1), 5, -7},
        Case{sub_(x.clone(), 1), 3, -9}, Case{mul_(x.clone(), 2), 8, -16},
        Case{div_(x.clone(), 4), 1, -2}, Case{where(ge(x, 0), x, 7), 4, 7},
        Case{where(ge(0, x), 7, x), 4, 7}, Case{mul(eq(x, 4.0), 1.0F), 1, 0},
        Case{mul(eq(4, x), 1.0F), 1, 0}}) {
    EXPECT_EQ(found.at<float>({0}), first);
    EXPECT_EQ(found.at<float>({1}), second);
  }
}

TEST(PromotionTest, in_place_results_may_be_wider_but_not_of_higher_category) {
  Tensor ints = Tensor::of<std::int8_t>({2}, {100, -1});
  add_(ints, Tensor::of<std::int32_t>({2}, {1000, 1}));
  EXPECT_EQ(ints.at<std::int8_t>({0}), static_cast<std::int8_t>(1100));
  EXPECT_EQ(ints.at<std::int8_t>({1}), 0);
  const Tensor before = ints.clone();
  EXPECT_EQ(complaint_of<byre::DTypeError>([&] { add_(ints, 0.5); }),
            "add_: a tensor of i8 cannot store a result of f32, a higher category. Use the "
            "operation that "
            "returns a new tensor, or convert by copy_().");
  EXPECT_THROW(div_(ints, ints), byre::DTypeError);
  EXPECT_THROW(exp_(ints), byre::DTypeError);
  EXPECT_EQ(ints.at<std::int8_t>({0}), before.at<std::int8_t>({0}));
  Tensor half = Tensor::of<byre::Float16>({1}, {byre::Float16(1.0F)});
  add_(half, Tensor::of<double>({1}, {0.5}));
  EXPECT_EQ(float(half.at<byre::Float16>({0})), 1.5F);
}

TEST(PromotionTest, where_requires_a_condition_of_bool) {
  const Tensor x = Tensor::zeros({2}, DType::u8);
  EXPECT_EQ(complaint_of<byre::DTypeError>([&] { where(x, x, x); }),
            "where: the condition is of u8, required is bool. Use the result of a comparison.");
}

/// The expected conversion of an element of type From. Converts by way of a type that represents
/// all values of From.
template <class To, class From>
To reference_conversion(From value) {
  if constexpr (is_complex<From>) {
    if constexpr (is_complex<To>) {
      return value;
    } else if constexpr (is_bool<To>) {
      return value.real() != 0 || value.imag() != 0;
    } else {
      return reference_conversion<To>(value.real());
    }
  } else if constexpr (is_bool<To>) {
    return !(value == From(0));
  } else if constexpr (is_complex<To>) {
    return {static_cast<float>(value), 0.0F};
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const auto wide = static_cast<long double>(static_cast<double>(value));
    if (std::isnan(wide)) {
      return 0;
    }
    // The largest integer is rounded up if a long double is as wide as a double.
    if (wide >= static_cast<long double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    return static_cast<To>(std::max<long double>(wide, std::numeric_limits<To>::min()));
  } else if constexpr (is_half<To>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
class ConversionTest : public testing::Test {};
TYPED_TEST_SUITE(ConversionTest, AllTypes);

template <class To, class From>
void check_conversion() {
  for (const Sample& source : samples_of_3_by_4<From>()) {
    SCOPED_TRACE(source.name + " of " + byre::name_of(byre::dtype_of<From>));
    for (const Sample& target : samples_of_3_by_4<To>(3)) {
      if (byre::may_overlap_itself(target.tensor.layout())) {
        continue;
      }
      Tensor written = target.tensor.lazy_clone();
      copy_(written, source.tensor);
      expect_elements<To>(written, {3, 4}, [&](const Dims& indices) {
        return reference_conversion<To>(at<From>(source.tensor, indices));
      });
    }
  }
  Tensor long_one = Tensor::empty({700}, byre::dtype_of<To>);
  const Tensor source = test_values<From>({700}, 4);
  copy_(long_one, source);
  expect_elements<To>(long_one, {700}, [&](const Dims& indices) {
    return reference_conversion<To>(at<From>(source, indices));
  });
}

TYPED_TEST(ConversionTest, copy_converts_every_dtype_and_value) {
  for (std::size_t number = 0; number < dtypes; ++number) {
    byre::visit(dtype_number(number), "test",
                []<class From>() { check_conversion<TypeParam, From>(); });
  }
}

TYPED_TEST(ConversionTest, conversion_to_integers_saturates_exactly_at_the_limits) {
  if constexpr (std::is_integral_v<TypeParam> && !is_bool<TypeParam>) {
    const auto lowest = static_cast<double>(std::numeric_limits<TypeParam>::min());
    const auto highest = static_cast<double>(std::numeric_limits<TypeParam>::max());
    for (const double edge : {lowest, highest, highest + 1, lowest - 1}) {
      for (const double value : {std::nextafter(edge, -INFINITY), edge, edge - 0.5, edge + 0.5,
                                 std::nextafter(edge, INFINITY)}) {
        Tensor written = Tensor::empty({}, byre::dtype_of<TypeParam>);
        copy_(written, Tensor::of<double>({}, {value}));
        EXPECT_EQ(written.at<TypeParam>({}), (reference_conversion<TypeParam>(value))) << value;
        copy_(written, Tensor::of<float>({}, {static_cast<float>(value)}));
        EXPECT_EQ(written.at<TypeParam>({}),
                  (reference_conversion<TypeParam>(static_cast<float>(value))))
            << value;
      }
    }
  }
}

TYPED_TEST(ConversionTest, fill_and_zero_write_every_element_of_a_view_and_no_other) {
  Tensor base = test_values<TypeParam>({6, 9}, 3);
  const Tensor before = base.clone();
  Tensor part = base.slice(0, 1, 6, 2).slice(1, 0, 8, 2);
  fill_(part, 3);
  expect_elements<TypeParam>(part, {3, 4}, [](const Dims&) { return TypeParam(3); });
  zero_(part);
  expect_elements<TypeParam>(base, {6, 9}, [&](const Dims& indices) {
    const bool is_written = indices[0] % 2 == 1 && indices[1] % 2 == 0 && indices[1] < 8;
    return is_written ? TypeParam(0) : at<TypeParam>(before, indices);
  });
  Tensor none = Tensor::empty({0, 3}, byre::dtype_of<TypeParam>);
  EXPECT_EQ(fill_(none, 1).numel(), 0);
  Tensor one = Tensor::empty({}, byre::dtype_of<TypeParam>);
  EXPECT_EQ(fill_(one, 1).template at<TypeParam>({}), TypeParam(1));
}

TEST(FillTest, fill_converts_a_number_without_intermediate_rounding) {
  Tensor longs = Tensor::empty({2}, DType::i64);
  fill_(longs, (std::int64_t{1} << 53) + 1);
  EXPECT_EQ(longs.at<std::int64_t>({1}), (std::int64_t{1} << 53) + 1);
  fill_(longs, 16777217.5);
  EXPECT_EQ(longs.at<std::int64_t>({1}), 16777217);
}

}  // namespace
}  // namespace byre::test
