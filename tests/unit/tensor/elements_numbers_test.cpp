// SPDX-License-Identifier: BSL-1.0
/// Numbers beside tensors, where the tensor's dtype has them and where it has not.
#include "elements_support.hpp"

namespace byre::test {
namespace {

TEST(NumbersTest, integers_that_a_dtype_has_not_are_refused_beside_it) {
  Tensor chars = Tensor::of<std::int8_t>({2}, {0, 127});
  const Tensor mask = ge(chars, 1);
  EXPECT_EQ(complaint_of<byre::DTypeError>([&] { add(chars, 300); }),
            "add: the number 300 is not among those of i8, the dtype of the tensor beside it. "
            "Convert the tensor to a wider dtype first, by copy_ to a tensor of that.");
  EXPECT_THROW(add_(chars, 128), byre::DTypeError);
  EXPECT_THROW(sub(-129, chars), byre::DTypeError);
  EXPECT_THROW(mul(Tensor::zeros({2}, DType::u8), -1), byre::DTypeError);
  EXPECT_THROW(div(chars, 1 << 20), byre::DTypeError);
  EXPECT_THROW(where(mask, chars, 200), byre::DTypeError);
  EXPECT_THROW(fill_(chars, 200), byre::DTypeError);
  EXPECT_EQ(chars.at<std::int8_t>({1}), 127);
  EXPECT_EQ(add_(chars, -128).at<std::int8_t>({0}), -128);
  EXPECT_EQ(sub(chars, 127).at<std::int8_t>({0}), 1);        // elements still wrap around
  EXPECT_EQ(fill_(chars, 200.0).at<std::int8_t>({0}), 127);  // as copy_ converts
  Tensor truths = Tensor::zeros({2}, DType::boolean);
  EXPECT_TRUE(fill_(truths, 256).at<bool>({1}));
  EXPECT_EQ(add(truths, 300).at<std::int64_t>({0}), 301);
}

TEST(NumbersTest, comparisons_with_integers_that_a_dtype_has_not_are_exact) {
  const auto expect_bools = [](const Tensor& found, bool first, bool second) {
    EXPECT_EQ(found.at<bool>({0}), first);
    EXPECT_EQ(found.at<bool>({1}), second);
  };
  const Tensor chars = Tensor::of<std::int8_t>({2}, {-56, 127});
  expect_bools(ge(chars, 200), false, false);
  expect_bools(ge(200, chars), true, true);
  expect_bools(eq(chars, 200), false, false);
  expect_bools(ge(chars, -1000), true, true);
  const Tensor bytes = Tensor::of<std::uint8_t>({2}, {255, 0});
  expect_bools(eq(bytes, -1), false, false);
  expect_bools(eq(-1, bytes), false, false);
  expect_bools(eq(bytes, 255), true, false);
  expect_bools(ge(-1, bytes), false, false);
  expect_bools(eq(Tensor::of<bool>({2}, {true, false}), 2), false, false);
}

TEST(NumbersTest, integers_beyond_i64_are_refused_by_themselves) {
  Tensor x = Tensor::zeros({1}, DType::f64);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(complaint_of<byre::DTypeError>([&] { fill_(x, most); }),
            "the number 18446744073709551615 is more than i64, the widest of integral dtypes, "
            "holds. Give a floating-point number.");
  EXPECT_THROW(fill_(x, most / 2 + 1), byre::DTypeError);
  EXPECT_EQ(fill_(x, static_cast<double>(most)).at<double>({0}), 0x1p64);
  EXPECT_EQ(add(Tensor::zeros({1}, DType::i64), most / 2).at<std::int64_t>({0}),
            std::numeric_limits<std::int64_t>::max());
}

TEST(NumbersTest, where_chooses_among_two_numbers_of_the_higher_category) {
  const Tensor mask = Tensor::of<bool>({2}, {true, false});
  EXPECT_EQ(where(mask, 1000, true).at<std::int64_t>({0}), 1000);
  EXPECT_EQ(where(mask, 1000, true).at<std::int64_t>({1}), 1);
  EXPECT_EQ(where(mask, 1, 0.5).at<float>({1}), 0.5F);
  EXPECT_EQ(where(mask, true, false).dtype(), DType::boolean);
  EXPECT_EQ(where(mask, 1, std::complex<float>(0, 1)).dtype(), DType::complex64);
}

}  // namespace
}  // namespace byre::test
