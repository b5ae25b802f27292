// SPDX-License-Identifier: BSL-1.0
/// Copies between any strides. The sizes are close to the sizes of the blocks of StridedCopy.
#include <numeric>
#include <string>
#include <vector>

#include "elements_support.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

/// A tensor in which each element differs from nearby elements. The elements are small integers,
/// which are exact in every dtype except bool.
template <class T>
Tensor distinct_numbers(const Dims& sizes) {
  return whole_numbers<T>(sizes, 127, 0, 2'654'435'761U);
}

/// The elements in row-major order.
template <class T>
std::vector<T> elements_of(const Tensor& tensor) {
  std::vector<T> all;
  for_each_index(tensor.sizes(),
                 [&](const Dims& indices) { all.push_back(at<T>(tensor, indices)); });
  return all;
}

template <class T>
void expect_same_elements(const Tensor& copy, const Tensor& source) {
  ASSERT_EQ(copy.sizes(), source.sizes());
  EXPECT_TRUE(elements_of<T>(copy) == elements_of<T>(source))
      << to_string(source.sizes()) << to_string(source.strides());
}

template <class T>
class StridedCopies : public testing::Test {};
using CopiedTypes = testing::Types<std::uint8_t, std::int16_t, float, double, std::complex<float>>;
TYPED_TEST_SUITE(StridedCopies, CopiedTypes);

TYPED_TEST(StridedCopies, copies_from_and_to_transposed_tensors_equal_their_source) {
  const std::int64_t sides[] = {1,  2,  7,  8,  9,  15,  16,  17,  31,
                                32, 33, 63, 64, 65, 127, 128, 129, 257};
  for (const std::int64_t rows : sides) {
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{8}, std::int64_t{33},
                                       std::int64_t{64}, std::int64_t{129}}) {
      const Tensor a = distinct_numbers<TypeParam>({rows, columns});
      const Tensor transposed = a.t();
      expect_same_elements<TypeParam>(transposed.contiguous(), transposed);
      expect_same_elements<TypeParam>(transposed.reshape({columns, rows, 1}).select(2, 0),
                                      transposed);
      Tensor into = Tensor::empty({rows, columns}, byre::dtype_of<TypeParam>).t();
      copy_(into, distinct_numbers<TypeParam>({columns, rows}));
      expect_same_elements<TypeParam>(into, distinct_numbers<TypeParam>({columns, rows}));
      if constexpr (!is_complex<TypeParam>) {  // conversions use blocks, too
        Tensor doubles = Tensor::empty({columns, rows}, DType::f64);
        const auto elements = elements_of<TypeParam>(transposed);
        EXPECT_EQ(elements_of<double>(copy_(doubles, transposed)),
                  std::vector<double>(elements.begin(), elements.end()));
      }
    }
  }
}

TYPED_TEST(StridedCopies, copies_of_random_views_equal_their_source) {
  Random random(seed());
  for (int number = 0; number < 60; ++number) {
    const auto ndim = random.number<std::size_t>(2, 4);
    Dims sizes;
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      sizes.push_back(random.number<std::int64_t>(1, ndim == 2 ? 150 : ndim == 3 ? 30 : 12));
    }
    Dims order(ndim);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    random.shuffle(order);
    const auto strided = [&](const Dims& of_sizes) {
      Dims larger(of_sizes);
      const std::size_t axis = random.below(ndim);
      larger[axis] = larger[axis] * 2 + 1;
      return distinct_numbers<TypeParam>(larger).slice(static_cast<std::int64_t>(axis), 1,
                                                       larger[axis], 2);
    };
    Tensor source = random.flag() ? distinct_numbers<TypeParam>(sizes) : strided(sizes);
    source = source.permute(order);
    if (random.chance(20)) {
      const std::size_t axis = random.below(ndim);
      const auto expanded = static_cast<std::int64_t>(axis);
      Dims full(source.sizes());
      source = source.slice(expanded, 0, 1).expand(full);
    }
    SCOPED_TRACE(to_string(source.sizes()) + to_string(source.strides()));
    expect_same_elements<TypeParam>(source.contiguous(), source);
    Tensor into = strided(Dims(source.sizes()));
    copy_(into, source);
    expect_same_elements<TypeParam>(into, source);
  }
}

TYPED_TEST(StridedCopies, a_copy_leaves_bytes_around_and_between_elements_unchanged) {
  for (const std::int64_t side : {33, 65, 70, 130}) {
    for (const std::int64_t step : {1, 2}) {
      Tensor whole = Tensor::empty({side + 40, step * side + 40}, byre::dtype_of<TypeParam>);
      fill_(whole, 1);
      Tensor part = whole.slice(0, 3, 3 + side).slice(1, 5, 5 + step * side, step);
      const Tensor source = distinct_numbers<TypeParam>({side, side}).t();
      copy_(part, source);
      expect_same_elements<TypeParam>(part, source);
      fill_(part, 1);
      const auto elements = elements_of<TypeParam>(whole);
      EXPECT_EQ(elements, std::vector<TypeParam>(elements.size(), TypeParam(1))) << side;
    }
  }
}

}  // namespace
}  // namespace byre::test
