// SPDX-License-Identifier: BSL-1.0
/// Operations that combine many elements or tensors into one (sum, matmul and cat), and flip.
#include "elements_support.hpp"

#include <byre/tensor/print.hpp>

namespace byre::test {
namespace {

template <class T>
Tensor small_numbers(const Dims& sizes, unsigned start = 0) {
  return whole_numbers<T>(sizes, 3, start);
}

template <class T>
using Summed = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// A type in which sums of small integers are exact.
template <class T>
using Exact = std::conditional_t<is_half<T>, float, Summed<T>>;

template <class T>
class ReductionTest : public testing::Test {};
TYPED_TEST_SUITE(ReductionTest, AllTypes);

template <class T>
std::vector<Sample> cubes() {
  return {{"contiguous", small_numbers<T>({2, 3, 4})},
          {"permuted", small_numbers<T>({4, 2, 3}).permute({1, 2, 0})},
          {"sliced", small_numbers<T>({5, 3, 9}).slice(0, 1, 5, 2).slice(2, 0, 8, 2)},
          {"expanded", small_numbers<T>({2, 1, 4}).expand({2, 3, 4})}};
}

TYPED_TEST(ReductionTest, sum_adds_elements_over_any_axes) {
  const std::vector<Dims> all_axes{{}, {0}, {1}, {-1}, {0, 2}, {1, 0}, {0, 1, 2}};
  for (const Sample& cube : cubes<TypeParam>()) {
    for (const Dims& axes : all_axes) {
      SCOPED_TRACE(cube.name + " over " + to_string(axes));
      Dims kept(cube.tensor.sizes());
      for (const std::int64_t axis : axes) {
        kept[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = 1;
      }
      const auto expected = [&](const Dims& indices) {
        Exact<TypeParam> total{};
        for_each_index(cube.tensor.sizes(), [&](const Dims& from) {
          bool is_term = true;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            is_term = is_term && (kept[axis] == 1 || from[axis] == indices[axis]);
          }
          total +=
              is_term ? Exact<TypeParam>(at<TypeParam>(cube.tensor, from)) : Exact<TypeParam>{};
        });
        return Summed<TypeParam>(total);
      };
      expect_elements<Summed<TypeParam>>(sum(cube.tensor, axes, true), kept, expected);
      const Tensor without = sum(cube.tensor, axes);
      EXPECT_EQ(without.ndim(), 3 - axes.size());
      expect_elements<Summed<TypeParam>>(without.view(kept), kept, expected);
    }
    EXPECT_EQ(sum(cube.tensor).template at<Summed<TypeParam>>({}),
              sum(cube.tensor, {0, 1, 2}).template at<Summed<TypeParam>>({}));
  }
}

TYPED_TEST(ReductionTest, sums_of_no_elements_are_0_and_0d_sums_are_the_element) {
  using Result = Summed<TypeParam>;
  const Tensor none = Tensor::empty({0, 3}, byre::dtype_of<TypeParam>);
  EXPECT_EQ(sum(none).template at<Result>({}), Result(0));
  expect_elements<Result>(sum(none, {0}), {3}, [](const Dims&) { return Result(0); });
  EXPECT_EQ(sum(none, {1}).sizes(), Dims{0});
  const Tensor one = small_numbers<TypeParam>({}, 1);
  EXPECT_EQ(sum(one).template at<Result>({}), Result(1));
  EXPECT_EQ(sum(one, {0}).template at<Result>({}), Result(1));
}

TEST(SumTest, integers_are_summed_as_i64_and_wrap) {
  EXPECT_EQ(sum(Tensor::of<std::uint8_t>({3}, {255, 255, 255})).at<std::int64_t>({}), 765);
  EXPECT_EQ(sum(Tensor::of<bool>({3}, {true, true, false})).at<std::int64_t>({}), 2);
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sum(Tensor::of<std::int64_t>({2}, {highest, 1})).at<std::int64_t>({}), lowest);
}

TEST(SumTest, f16_and_bf16_are_summed_as_f32) {
  Tensor ones = Tensor::empty({4096}, DType::bf16);
  fill_(ones, 1);
  EXPECT_EQ(float(sum(ones).at<byre::BFloat16>({})), 4096.0F);
  Tensor halves = Tensor::empty({60000}, DType::f16);
  fill_(halves, 1);
  EXPECT_EQ(float(sum(halves).at<byre::Float16>({})), float(byre::Float16(60000.0F)));
}

TEST(SumTest, axes_out_of_range_or_repeated_are_rejected) {
  const Tensor x = Tensor::zeros({2, 3}, DType::f32);
  EXPECT_THROW(sum(x, {2}), byre::ShapeError);
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] {
              sum(x, {1, -1});
            }),
            "sum: dimension 1 is named twice in [1, -1]. Name each dimension at most once.");
}

template <class T>
T reference_product(const Tensor& a, const Tensor& b, std::int64_t i, std::int64_t j) {
  Exact<T> total{};
  for (std::int64_t k = 0; k < a.size(1); ++k) {
    total += Exact<T>(at<T>(a, {i, k})) * Exact<T>(at<T>(b, {k, j}));
  }
  return T(total);
}

template <class T>
void check_matmul(const Tensor& a, const Tensor& b) {
  expect_elements<T>(matmul(a, b), {a.size(0), b.size(1)}, [&](const Dims& indices) {
    return reference_product<T>(a, b, indices[0], indices[1]);
  });
}

TYPED_TEST(ReductionTest, matmul_multiplies_matrices_of_any_layout) {
  const std::vector<Sample> lefts{
      {"contiguous", small_numbers<TypeParam>({3, 4})},
      {"transposed", small_numbers<TypeParam>({4, 3}).t()},
      {"sliced", small_numbers<TypeParam>({6, 8}).slice(0, 0, 6, 2).slice(1, 1, 8, 2)},
      {"expanded", small_numbers<TypeParam>({1, 4}).expand({3, 4})},
      {"without rows", small_numbers<TypeParam>({0, 4})}};
  const std::vector<Sample> rights{{"contiguous", small_numbers<TypeParam>({4, 5}, 1)},
                                   {"transposed", small_numbers<TypeParam>({5, 4}, 1).t()},
                                   {"wide", small_numbers<TypeParam>({4, 300}, 1)},
                                   {"without columns", small_numbers<TypeParam>({4, 0})}};
  for (const Sample& a : lefts) {
    for (const Sample& b : rights) {
      SCOPED_TRACE(a.name + " by " + b.name);
      check_matmul<TypeParam>(a.tensor, b.tensor);
    }
  }
  SCOPED_TRACE("an inner size of 0");
  check_matmul<TypeParam>(small_numbers<TypeParam>({2, 0}), small_numbers<TypeParam>({0, 3}));
}

TYPED_TEST(ReductionTest, matmul_treats_a_1d_tensor_as_a_row_or_a_column) {
  const Tensor matrix = small_numbers<TypeParam>({3, 4});
  const Tensor of_3 = small_numbers<TypeParam>({3}, 1);
  const Tensor of_4 = small_numbers<TypeParam>({8}, 1).slice(0, 0, 8, 2);
  expect_elements<TypeParam>(matmul(of_3, matrix), {4}, [&](const Dims& indices) {
    return reference_product<TypeParam>(of_3.unsqueeze(0), matrix, 0, indices[0]);
  });
  expect_elements<TypeParam>(matmul(matrix, of_4), {3}, [&](const Dims& indices) {
    return reference_product<TypeParam>(matrix, of_4.unsqueeze(1), indices[0], 0);
  });
  expect_elements<TypeParam>(matmul(of_4, of_4), {}, [&](const Dims&) {
    return reference_product<TypeParam>(of_4.unsqueeze(0), of_4.unsqueeze(1), 0, 0);
  });
}

TYPED_TEST(ReductionTest, matmul_broadcasts_leading_dimensions) {
  const Tensor a = small_numbers<TypeParam>({2, 1, 3, 4});
  const Tensor b = small_numbers<TypeParam>({5, 2, 4}, 1).transpose(1, 2).transpose(1, 2);
  const Tensor c = small_numbers<TypeParam>({5, 4, 2}, 1);
  const Tensor product = matmul(a, c);
  ASSERT_EQ(product.sizes(), (Dims{2, 5, 3, 2}));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const Tensor left = a.select(0, i).select(0, 0);
      const Tensor right = c.select(0, j);
      expect_elements<TypeParam>(
          product.select(0, i).select(0, j), {3, 2}, [&](const Dims& indices) {
            return reference_product<TypeParam>(left, right, indices[0], indices[1]);
          });
    }
  }
  EXPECT_EQ(matmul(a, small_numbers<TypeParam>({4})).sizes(), (Dims{2, 1, 3}));
  EXPECT_EQ(matmul(small_numbers<TypeParam>({3}), a).sizes(), (Dims{2, 1, 4}));
  EXPECT_THROW(matmul(a, b), byre::ShapeError);
}

TEST(MatmulTest, sizes_that_do_not_match_are_rejected) {
  const Tensor x = Tensor::zeros({2, 3}, DType::f32);
  EXPECT_EQ(
      complaint_of<byre::ShapeError>([&] { matmul(x, x); }),
      "matmul: cannot multiply sizes [2, 3] by [2, 3]. Both tensors need a dimension, and the last "
      "size of the first must equal the second to last size of the second, or its only size. "
      "Transpose or reshape one of them.");
  EXPECT_TRUE(
      says(complaint_of<byre::ShapeError>([&] { matmul(x, Tensor::zeros({}, DType::f32)); }),
           "matmul: cannot multiply sizes [2, 3] by []"));
  EXPECT_THROW(matmul(Tensor::zeros({2, 2, 3}, DType::f32), Tensor::zeros({3, 3, 1}, DType::f32)),
               byre::ShapeError);
}

TYPED_TEST(ReductionTest, cat_joins_tensors_along_an_axis) {
  const std::vector<Sample> samples = samples_of_3_by_4<TypeParam>();
  for (const std::int64_t axis : {0, 1, -1}) {
    std::vector<Tensor> tensors;
    for (const Sample& sample : samples) {
      tensors.push_back(sample.tensor);
    }
    tensors.insert(tensors.begin() + 1,
                   test_values<TypeParam>(axis == 0 ? Dims{0, 4} : Dims{3, 0}));
    const Tensor joined = byre::cat(tensors, axis);
    std::int64_t start = 0;
    for (const Tensor& tensor : tensors) {
      expect_elements<TypeParam>(joined.narrow(axis, start, tensor.size(axis)), tensor.sizes(),
                                 [&](const Dims& i) { return at<TypeParam>(tensor, i); });
      start += tensor.size(axis);
    }
    EXPECT_EQ(joined.size(axis), start);
  }
}

TEST(CatTest, invalid_lists_sizes_and_axes_are_rejected) {
  const Tensor x = Tensor::zeros({2, 3}, DType::f32);
  EXPECT_EQ(complaint_of<byre::ShapeError>([&] { byre::cat({}); }),
            "cat: the list of tensors is empty. Pass at least one.");
  EXPECT_EQ(
      complaint_of<byre::ShapeError>([&] {
        byre::cat({x, x.t()});
      }),
      "cat: sizes [3, 2] cannot be appended to sizes [2, 3]: all sizes but that of dimension 0 "
      "must be equal. Resize or slice one of the tensors.");
  EXPECT_THROW(byre::cat({x, x.select(0, 0)}), byre::ShapeError);
  EXPECT_TRUE(says(
      complaint_of<byre::ShapeError>([] { byre::cat({Tensor::zeros({}, DType::f32)}); }),
      "cat: dimension 0 is out of range: the tensor has no dimensions. Add one by unsqueeze(0)."));
  EXPECT_THROW(byre::cat({x}, 2), byre::ShapeError);
  constexpr auto huge = static_cast<std::int64_t>(byre::max_nbytes);
  const Tensor vast = Tensor::zeros({huge, 0}, DType::f32);
  EXPECT_THROW(byre::cat({vast, vast}), byre::ShapeError);
}

TEST(Flip, reverses_elements_along_axes) {
  const Tensor x = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(to_string(flip(x, {})), to_string(x));
  EXPECT_EQ(to_string(flip(x, {0})), "[[3. 4. 5.]\n [0. 1. 2.]]");
  EXPECT_EQ(to_string(flip(x, {-1})), "[[2. 1. 0.]\n [5. 4. 3.]]");
  EXPECT_EQ(to_string(flip(x, {1, 0})), "[[5. 4. 3.]\n [2. 1. 0.]]");
  EXPECT_EQ(to_string(flip(x.t(), {0})), "[[2. 5.]\n [1. 4.]\n [0. 3.]]");
  EXPECT_EQ(to_string(flip(x.slice(1, 0, 3, 2), {0, 1})), "[[5. 3.]\n [2. 0.]]");
  EXPECT_EQ(to_string(flip(x.select(0, 1).expand({2, 3}), {1})), "[[5. 4. 3.]\n [5. 4. 3.]]");
  EXPECT_EQ(to_string(flip(x.select(0, 1).select(0, 2), {0})), "5.");
  EXPECT_EQ(flip(x.slice(0, 2), {0, 1}).sizes(), (Dims{0, 3}));
}

TEST(Flip, copies_tensors_of_every_dtype) {
  for (std::size_t dtype = 0; dtype < byre::detail::dtype_count; ++dtype) {
    const Tensor number = Tensor::of<std::int64_t>({5}, {1, 0, 1, 1, 0});
    Tensor x = Tensor::empty({5}, static_cast<DType>(dtype));
    copy_(x, number);
    const Tensor flipped = flip(x, {0});
    EXPECT_EQ(flipped.dtype(), x.dtype());
    EXPECT_FALSE(flipped.aliases(x));
    Tensor numbers = Tensor::empty({5}, DType::i64);
    EXPECT_EQ(to_string(copy_(numbers, flipped)), "[0 1 1 0 1]") << byre::name_of(x.dtype());
    EXPECT_EQ(to_string(copy_(numbers, flip(flipped, {0}))), to_string(number));
  }
}

TEST(Flip, rejects_axes_out_of_range_and_repeated_axes) {
  const Tensor x = Tensor::zeros({2, 3}, DType::f32);
  EXPECT_THROW(flip(x, {2}), ShapeError);
  EXPECT_THROW(flip(x, {-3}), ShapeError);
  EXPECT_THROW(flip(x, {0, -2}), ShapeError);
  EXPECT_THROW(flip(Tensor(Device::cpu()), {0}), StateError);
}

}  // namespace
}  // namespace byre::test
