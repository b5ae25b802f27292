// SPDX-License-Identifier: BSL-1.0
// Views of the storage itself, with any strides or with another dtype; and arithmetic on sizes that
// must not overflow.
#include <byre/tensor/tensor.hpp>
#include <byre/tensor/view_geometry.hpp>
#include <byre/tensor/views.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>

#include "support/complaint.hpp"
#include "support/tensor/layout_text.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t huge_size = std::numeric_limits<std::int64_t>::max();

TEST(ViewsOfBytes, as_strided_rejects_elements_outside_of_the_storage) {
  const Tensor x = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(x.select(0, 1).as_strided({2}, {2}).at<float>({1}),
            5.0F);  // the default offset is the offset of the view
  EXPECT_EQ(text_of(views::as_strided({2, 2}, {2, 1}, 2, 6)), "[2, 2] by [2, 1] from 2");
  EXPECT_EQ(text_of(views::as_strided({4}, {0}, 5, 6)), "[4] by [0] from 5");
  EXPECT_EQ(text_of(views::as_strided({0}, {1}, 6, 6)), "[0] by [1] from 6");
  EXPECT_EQ(text_of(views::as_strided({}, {}, 5, 6)), "[] by [] from 5");
  struct Outside {
    Dims sizes;
    Dims strides;
    std::int64_t offset;
  };
  const std::vector<Outside> all_outside{
      {{2, 2}, {2, 1}, 3},   {{7}, {1}, 0},
      {{}, {}, 6},           {{1}, {1}, 6},
      {{}, {}, huge_size},   {{2}, {huge_size}, 0},
      {{huge_size}, {2}, 0}, {{3, 3}, {huge_size / 2, huge_size / 2}, 0},
      {{2}, {1}, huge_size}, {{1, 1}, {huge_size, 1}, 0},
      {{0}, {huge_size}, 0}, {{0, 2}, {1, huge_size}, 0}};
  for (const Outside& outside : all_outside) {
    const std::string text = complaint_of<ShapeError>(
        [&] { views::as_strided(outside.sizes, outside.strides, outside.offset, 6); });
    EXPECT_TRUE(text.find("reach beyond the 6 elements") != std::string::npos ||
                text.find("more elements") != std::string::npos)
        << to_string(outside.sizes) << to_string(outside.strides) << outside.offset << text;
  }
}

TEST(ViewsOfBytes, an_empty_as_strided_view_clamps_its_offset_to_the_storage) {
  for (const std::int64_t offset : {std::int64_t{7}, huge_size}) {
    EXPECT_EQ(text_of(views::as_strided({0}, {1}, offset, 6)), "[0] by [1] from 6");
    EXPECT_EQ(text_of(views::as_strided({2, 0}, {1, 3}, offset, 0)), "[2, 0] by [1, 3] from 0");
  }
  const Tensor x = Tensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor none = x.as_strided({3, 0}, {1, 1}, 100);
  EXPECT_TRUE(none.aliases(x));
  EXPECT_EQ(none.clone().sizes(), Dims({3, 0}));
  EXPECT_EQ(none.raw_data(), x.data<float>() + 6);
  EXPECT_EQ(Tensor::zeros({0}, DType::f32).as_strided({0}, {1}, 5).numel(), 0);
}

TEST(ViewsOfBytes, view_as_complex_accepts_any_strides_of_an_empty_tensor) {
  const Tensor reals = Tensor::zeros({4, 3}, DType::f32);
  EXPECT_EQ(text_of(reals.as_strided({0, 2}, {3, 5}, 1).view_as_complex().layout()),
            "[0] by [1] from 0");
  EXPECT_EQ(text_of(reals.as_strided({3, 0, 2}, {1, 1, 1}, 7).view_as_complex().layout()),
            "[3, 0] by [1, 1] from 3");
  EXPECT_EQ(Tensor::zeros({2, 0}, DType::f32).t().view_as_complex().dtype(), DType::complex64);
  EXPECT_THROW(Tensor::zeros({2, 0}, DType::f32).view_as_complex(), ShapeError);
  EXPECT_THROW(Tensor::zeros({0, 3}, DType::f32).view_as_complex(), ShapeError);
}

TEST(ViewsOfBytes, as_strided_rejects_negative_or_missing_strides) {
  for (const auto& refused :
       {+[] { views::as_strided({2}, {-1}, 5, 6); }, +[] { views::as_strided({2}, {1}, -1, 6); },
        +[] {
          views::as_strided({2, 2}, {1}, 0, 6);
        }}) {
    EXPECT_TRUE(says(complaint_of<ShapeError>(refused),
                     "Pass one stride for each size, and no negative number"));
  }
  EXPECT_THROW(views::as_strided({-1}, {1}, 0, 6), ShapeError);
}

TEST(ViewsOfBytes, with_itemsize_scales_the_last_dimension) {
  const Layout layout{{3, 4}, {8, 1}, 2};
  EXPECT_EQ(text_of(views::with_itemsize(layout, 4, 4)), text_of(layout));
  EXPECT_EQ(text_of(views::with_itemsize(layout, 4, 1)), "[3, 16] by [32, 1] from 8");
  EXPECT_EQ(text_of(views::with_itemsize(layout, 4, 8)), "[3, 2] by [4, 1] from 1");
  EXPECT_EQ(text_of(views::with_itemsize({{1, 4}, {5, 1}}, 4, 8)), "[1, 2] by [2, 1] from 0");
  EXPECT_EQ(text_of(views::with_itemsize({{2, 1}, {3, 7}, 1}, 8, 2)), "[2, 4] by [12, 1] from 4");
  EXPECT_EQ(text_of(views::with_itemsize(dense({0, 4}), 4, 1)), "[0, 16] by [16, 1] from 0");
  EXPECT_EQ(text_of(views::with_itemsize(dense({2, 0}), 4, 8)), "[2, 0] by [1, 1] from 0");
  EXPECT_EQ(text_of(views::with_itemsize({{2, 0}, {5, 3}, 2}, 4, 8)), "[2, 0] by [1, 1] from 1");
  EXPECT_THROW(views::with_itemsize(dense({0, 3}), 4, 8), ShapeError);
  const std::vector<Layout> refused{
      {{}, {}}, {{3}, {1}}, {{4}, {2}}, {{4}, {1}, 1}, {{2, 4}, {5, 1}}};
  for (const Layout& odd : refused) {
    const std::string text = complaint_of<ShapeError>([&] { views::with_itemsize(odd, 4, 8); });
    EXPECT_TRUE(says(text, "Call contiguous() first")) << text_of(odd) << text;
  }
  EXPECT_THROW(views::with_itemsize({{2, 2}, {1, 2}}, 4, 1), ShapeError);
  EXPECT_THROW(views::with_itemsize({{}, {}}, 4, 1), ShapeError);
}

TEST(ViewsOfBytes, covers_storage_is_true_if_every_byte_is_viewed_once) {
  const ViewGeometry all = ViewGeometry::of_all({2, 2}, DType::f32);
  EXPECT_TRUE(all.covers_storage());
  EXPECT_TRUE(all.with({{2, 2}, {1, 2}}).covers_storage());
  EXPECT_FALSE(all.with({{2, 2}, {0, 1}}).covers_storage());
  EXPECT_FALSE(all.with({{3}, {1}}).covers_storage());
}

TEST(ViewsOfBytes, view_rejects_an_uninitialized_dtype) {
  EXPECT_THROW(Tensor::zeros({2}, DType::f32).view(DType::uninitialized), DTypeError);
}

TEST(ViewsOfBytes, view_as_complex_requires_adjacent_pairs_of_reals) {
  using Complex = std::complex<float>;
  const Tensor z = Tensor::of<Complex>({2, 2}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  const Tensor pairs = z.t().view_as_real();
  const Layout one_step{{1, 3, 2}, {5, 2, 1}};
  EXPECT_EQ(text_of(views::as_complex(one_step)), "[1, 3] by [2, 1] from 0");
  EXPECT_THROW(views::as_complex({{2, 3, 2}, {5, 2, 1}}), ShapeError);
  EXPECT_THROW(z.view_as_complex(), DTypeError);
  EXPECT_THROW(pairs.view_as_real(), DTypeError);
  const Tensor reals = Tensor::zeros({4, 3}, DType::f32);
  for (const Tensor& odd :
       {reals, reals.slice(1, 0, 2), reals.slice(1, 0, 3, 2), reals.select(0, 0),
        reals.slice(0, 0, 2).t(), reals.flatten().slice(0, 1, 3),
        Tensor::zeros({4, 4}, DType::f32).slice(1, 0, 4, 2)}) {
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { odd.view_as_complex(); }),
                     "two adjacent reals; the other strides and the offset must be even"));
  }
}

TEST(ViewsOfBytes, counts_of_repeated_elements_are_checked_for_overflow) {
  constexpr int bits = std::numeric_limits<std::size_t>::digits;
  constexpr auto power = [](int exponent) { return std::int64_t{1} << exponent; };
  const Tensor one = Tensor::zeros({1}, DType::f64);
  EXPECT_EQ(one.expand({power(bits - 5)}).nbytes(), std::size_t{1} << (bits - 2));
  for (const int exponent : {bits - 3, std::min(bits, 62), 61}) {
    EXPECT_THROW(one.expand({power(exponent)}), ShapeError);
    EXPECT_THROW(one.as_strided({power(exponent)}, {0}), ShapeError);
  }
  EXPECT_THROW(one.expand({power(40), power(40)}), ShapeError);
  const Tensor many = one.expand({power(bits / 2 + 8)});
  EXPECT_THROW(many.unfold(0, power(bits / 2 + 7), 1), ShapeError);
  if constexpr (bits == 64) {  // with fewer bits, the count is within the limit
    EXPECT_THROW(one.expand({power(59)}).clone(), OutOfMemory);
  }
  const Layout wide = dense({0, power(bits - 2)});
  EXPECT_THROW(views::with_itemsize(wide, 8, 1), ShapeError);
  EXPECT_THROW(views::as_real(wide), ShapeError);
}

TEST(ViewsOfBytes, data_pointers_of_empty_views_stay_within_the_storage) {
  const Tensor x = Tensor::zeros({4}, DType::f32);
  const auto many = static_cast<std::int64_t>(byre::max_nbytes / 4);
  const Tensor none = x.narrow(0, 2, 0).view({0, many});
  const std::int64_t last = many - 1;
  for (const Tensor& view : {none.select(1, last), none.narrow(1, last, 1), none.slice(1, last),
                             none.slice(1, last).expand({3, 0, 1}), none.t().diagonal(-last)}) {
    EXPECT_EQ(view.numel(), 0);
    EXPECT_EQ(view.storage_offset(), 0);
    EXPECT_EQ(view.data<float>(), x.data<float>());
  }
}

TEST(ViewsOfBytes, strides_of_dimensions_of_size_1_do_not_grow_without_bound) {
  Layout layout{{1}, {std::int64_t{1} << 40}};
  for (int count = 0; count < 200; ++count) {
    layout = views::diagonal(views::unsqueeze(layout, 0));
  }
  EXPECT_EQ(text_of(layout), "[1] by [1099511627776] from 0");
}

}  // namespace
}  // namespace byre::test
