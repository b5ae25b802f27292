// SPDX-License-Identifier: BSL-1.0
/// Rows as long as the pieces that kernels take them in, and a little longer and shorter: sums, and operands that
/// are repeated.
#include <byre/tensor/elements/detail/lane_sums.hpp>

#include <numeric>
#include <vector>

#include "elements_support.hpp"

namespace byre::test {
namespace {

template <class T>
Tensor counted(const Dims& sizes, unsigned modulus) {
  Tensor tensor = Tensor::empty(sizes, byre::dtype_of<T>);
  T* const elements = tensor.mutable_data<T>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    elements[i] = T(static_cast<float>(static_cast<unsigned>(i) * 7 % modulus));
  }
  return tensor;
}

template <class T>
class LongRows : public testing::Test {};
using LongRowTypes = testing::Types<float, double, std::int64_t, std::int8_t, std::complex<float>>;
TYPED_TEST_SUITE(LongRows, LongRowTypes);

TYPED_TEST(LongRows, of_any_length_are_summed) {
  using T = TypeParam;
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  const Tensor all = counted<T>({9000}, 5);
  const Tensor apart = counted<T>({9000, 2}, 5).select(1, 1);
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

TYPED_TEST(LongRows, are_summed_by_columns) {
  using T = TypeParam;
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  for (const std::int64_t columns : {7, 8, 31, 32, 33, 64, 65, 130}) {
    for (const std::int64_t rows : {1, 2, 3, 31, 32, 33, 100}) {
      const Tensor a = rows == 3 ? counted<T>({columns, 4}, 3).slice(1, 0, 3).t()
                                 : counted<T>({rows, columns + 1}, 3).slice(1, 1, columns + 1);
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

TYPED_TEST(LongRows, take_a_number_or_an_element_of_their_own) {
  using T = TypeParam;
  for (const std::int64_t length :
       {255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 8191, 8193}) {
    Tensor a = counted<T>({3, length}, 40);
    const Tensor before = a.clone();
    const Tensor column = counted<T>({3, 1}, 11);
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

TEST(LongSums, err_little_however_many_terms_they_have) {
  Tensor tenths = Tensor::empty({3'000'001}, DType::f32);
  fill_(tenths, 0.1);
  EXPECT_NEAR(at<float>(sum(tenths), {}), 300'000.1F, 0.1F);
  const Tensor columns = tenths.slice(0, 0, 3'000'000).reshape({100'000, 30});
  const Tensor of_columns = sum(columns, {0}, false);
  for (std::int64_t column = 0; column < 30; ++column) {
    EXPECT_NEAR(at<float>(of_columns, {column}), 10'000.0F, 0.01F);
  }
}

TEST(LongSums, are_the_same_by_vectors_of_every_width) {
  std::vector<float> rows(64 * 40);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = 1.0F / static_cast<float>(i + 1);
  }
  std::vector<float> wide(64, 0.5F);
  std::vector<float> anywhere = wide;
  const auto add = [&](byre::detail::AddRows way, std::vector<float>& sums) {
    way(reinterpret_cast<std::byte*>(sums.data()), reinterpret_cast<const std::byte*>(rows.data()),
        byre::detail::lanes_nbytes, 40);
  };
  add(&byre::detail::RowsAdder<float>::anywhere, anywhere);
  add(byre::detail::adder_of_rows<float>(), wide);
  EXPECT_EQ(wide, anywhere);
  for (std::size_t lane = 0; lane < 64; ++lane) {
    float wanted = 0.5F;
    for (std::size_t row = 0; row < 40; ++row) {
      wanted += rows[row * 64 + lane];
    }
    EXPECT_EQ(anywhere[lane], wanted);
  }
}

}  // namespace
}  // namespace byre::test
