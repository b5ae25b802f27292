// SPDX-License-Identifier: BSL-1.0
// Layouts: checked counts, contiguity, views with other sizes, and single elements; and Dims, which
// stores up to five numbers in the object and more numbers on the heap.
#include <byre/memory/allocator.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/layout.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/tensor/layout_text.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
constexpr auto most = static_cast<std::int64_t>(max_nbytes);

std::string viewed(const Layout& layout, const Dims& sizes) {
  const auto view = viewed_as(layout, sizes, "test");
  return view ? text_of(*view) : "only by a copy";
}

TEST(Layout, a_contiguous_layout_is_row_major) {
  EXPECT_EQ(text_of(dense({2, 3, 4})), "[2, 3, 4] by [12, 4, 1] from 0");
  EXPECT_EQ(text_of(dense({})), "[] by [] from 0");
  EXPECT_EQ(text_of(dense({3, 0, 2})), "[3, 0, 2] by [2, 2, 1] from 0");
  EXPECT_EQ(dense({}).numel(), 1);
  EXPECT_EQ(dense({3, 0, 2}).numel(), 0);
}

TEST(Layout, more_elements_than_max_nbytes_are_rejected) {
  EXPECT_EQ(dense({most}).numel(), most);
  const std::vector<Dims> too_many{{most + 1},
                                   {huge},
                                   {huge, huge},
                                   {huge, 0},
                                   {1LL << 32, 1LL << 32},
                                   {1LL << 31, 1LL << 31, 2}};
  for (const Dims& sizes : too_many) {
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { dense(sizes); }),
                     "test: sizes " + to_string(sizes), "Was a size miscomputed?"));
  }
}

TEST(Layout, the_error_for_a_negative_size_names_the_value) {
  for (const std::int64_t size : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    const std::string text = complaint_of<ShapeError>([&] { dense({2, size}); });
    EXPECT_TRUE(says(text, "size " + std::to_string(size), "is negative"));
  }
}

TEST(Layout, byte_counts_that_overflow_are_rejected) {
  EXPECT_EQ(detail::byte_count(3, 8, "test"), 24U);
  EXPECT_EQ(detail::byte_count(0, 8, "test"), 0U);
  EXPECT_EQ(detail::byte_count(most, 1, "test"), max_nbytes);
  if constexpr (sizeof(std::size_t) == 4) {
    EXPECT_THROW((void)detail::byte_count((std::int64_t{1} << 32) + 1, 8, "test"), ShapeError);
  }
  for (const std::int64_t numel : {most, most / 2, most / 4, most / 8 + 1}) {
    EXPECT_THROW(detail::byte_count(numel, 8, "test"), ShapeError) << numel;
  }
}

TEST(Layout, negative_axes_count_from_the_end) {
  EXPECT_EQ(detail::wrap_axis(-3, 3, "test"), 0U);
  EXPECT_EQ(detail::wrap_axis(-1, 3, "test"), 2U);
  EXPECT_EQ(detail::wrap_axis(2, 3, "test"), 2U);
  EXPECT_EQ(detail::wrap_axis(-1, 0, "test"), 0U);
  EXPECT_EQ(detail::wrap_axis(0, 0, "test"), 0U);
  for (const std::int64_t axis : {std::int64_t{-4}, std::int64_t{3}, huge, -huge - 1}) {
    const std::string text = complaint_of<ShapeError>([&] { detail::wrap_axis(axis, 3, "test"); });
    EXPECT_TRUE(says(text, "Use -3 to 2; negative numbers count from the last"));
  }
  EXPECT_THROW(detail::wrap_axis(1, 0, "test"), ShapeError);
}

TEST(Layout, strides_of_dimensions_of_size_1_do_not_affect_contiguity) {
  EXPECT_TRUE(dense({2, 3}).is_contiguous());
  EXPECT_TRUE((Layout{{1, 3}, {77, 1}, 5}.is_contiguous()));
  EXPECT_TRUE((Layout{{2, 1, 3}, {3, 77, 1}}.is_contiguous()));
  EXPECT_TRUE((Layout{{2, 0}, {9, 9}}.is_contiguous()));
  EXPECT_TRUE((Layout{{0, 2}, {9, 9}}.is_contiguous()));
  EXPECT_TRUE(dense({}).is_contiguous());
  EXPECT_FALSE((Layout{{3, 2}, {1, 3}}.is_contiguous()));
  EXPECT_FALSE((Layout{{2, 2}, {3, 1}}.is_contiguous()));
  EXPECT_FALSE((Layout{{2}, {0}}.is_contiguous()));
}

TEST(Layout, the_end_is_one_past_the_highest_element) {
  EXPECT_EQ(dense({2, 3}).end(), 6);
  EXPECT_EQ((Layout{{2, 3}, {10, 2}, 5}.end()), 20);
  EXPECT_EQ((Layout{{2, 0}, {10, 2}, 5}.end()), 0);
  EXPECT_EQ((Layout{{}, {}, 5}.end()), 6);
  EXPECT_EQ((Layout{{4}, {0}, 5}.end()), 6);
}

/// tests/tensor/views_against_numpy.py tests random sizes, including sizes that require a copy.
TEST(Layout, new_sizes_need_no_copy_if_strides_can_express_them) {
  EXPECT_EQ(viewed(dense({12}), {1, 12, 1}), "[1, 12, 1] by [12, 1, 1] from 0");
  const Layout transposed{{4, 3}, {1, 4}};
  EXPECT_EQ(viewed(transposed, {12}), "only by a copy");
  EXPECT_EQ(viewed(transposed, {4, 1, 3, 1}), "[4, 1, 3, 1] by [1, 3, 4, 1] from 0");
  EXPECT_EQ(viewed({{3, 4}, {0, 1}}, {3, 2, 2}), "[3, 2, 2] by [0, 2, 1] from 0");
  EXPECT_EQ(viewed({{3, 4}, {0, 0}}, {2, 6}), "[2, 6] by [0, 0] from 0");
}

TEST(Layout, an_empty_layout_can_be_viewed_with_any_empty_sizes) {
  EXPECT_EQ(viewed({{3, 0}, {7, 9}, 2}, {0, 5}), "[0, 5] by [5, 1] from 2");
  EXPECT_EQ(viewed(dense({0}), {0, 0}), "[0, 0] by [1, 1] from 0");
  EXPECT_EQ(viewed(dense({0, 3}), {-1, 3}), "[0, 3] by [3, 1] from 0");
}

TEST(Layout, a_size_of_minus_1_is_inferred) {
  EXPECT_EQ(to_string(inferred_sizes({-1, 4}, 12, "test")), "[3, 4]");
  EXPECT_EQ(to_string(inferred_sizes({2, -1, 3}, 12, "test")), "[2, 2, 3]");
  EXPECT_EQ(to_string(inferred_sizes({-1}, 0, "test")), "[0]");
  const std::vector<Dims> impossible{{-1, 5}, {-1, -1}, {-2, 6}, {0, -1}, {3, 3}, {}};
  for (const Dims& sizes : impossible) {
    EXPECT_THROW(inferred_sizes(sizes, 12, "test"), ShapeError) << to_string(sizes);
  }
  EXPECT_THROW(inferred_sizes({0, -1}, 0, "test"), ShapeError);
  const std::string text = complaint_of<ShapeError>([] { inferred_sizes({5}, 12, "reshape"); });
  EXPECT_EQ(
      text.find("reshape: sizes [5] do not match the 12 elements of the tensor. Choose sizes"), 0U)
      << text;
}

TEST(Layout, element_at_accepts_negative_indices_and_checks_the_range) {
  const Layout layout{{2, 3}, {10, 2}, 5};
  EXPECT_EQ(element_at(layout, Dims{1, 2}, "at"), 19);
  EXPECT_EQ(element_at(layout, Dims{-1, -3}, "at"), 15);
  EXPECT_EQ(element_at(Layout{{}, {}, 5}, Dims{}, "at"), 5);
  const std::vector<Dims> wrong{{2, 0}, {0, 3},    {-3, 0},   {0, -4},
                                {0},    {0, 0, 0}, {huge, 0}, {-huge, 0}};
  for (const Dims& indices : wrong) {
    EXPECT_THROW(element_at(layout, indices, "at"), ShapeError) << to_string(indices);
  }
  EXPECT_THROW(element_at(dense({0}), Dims{0}, "at"), ShapeError);
}

TEST(DimsTest, behaves_like_a_vector_in_the_object_and_on_the_heap) {
  Dims dims;
  std::vector<std::int64_t> model;
  const auto expect_equal = [&] {
    ASSERT_EQ(std::vector<std::int64_t>(dims.begin(), dims.end()), model);
  };
  for (const std::size_t length : std::initializer_list<std::size_t>{3, 9, 5, 6}) {
    while (model.size() < length) {
      const auto number = static_cast<std::int64_t>(model.size() * 10 + length);
      const auto middle = static_cast<std::ptrdiff_t>(model.size() / 2);
      dims.push_back(number);
      model.push_back(number);
      EXPECT_EQ(*dims.insert(dims.begin() + middle, -number), -number);
      model.insert(model.begin() + middle, -number);
      expect_equal();
      EXPECT_EQ(dims.back(), model.back());
    }
    Dims copy(dims);
    EXPECT_EQ(copy, dims);
    copy.front() = 999;
    EXPECT_NE(copy, dims);
    const Dims moved(std::move(copy));
    EXPECT_EQ(moved.size(), model.size());
    EXPECT_EQ(copy.size(), 0U);  // NOLINT: a moved-from Dims is empty
    copy = dims;
    EXPECT_EQ(copy, dims);
    while (model.size() > length / 2) {
      dims.erase(dims.begin() + 1);
      model.erase(model.begin() + 1);
      expect_equal();
      dims.pop_back();
      model.pop_back();
      expect_equal();
    }
    dims.resize(length, 7);
    model.resize(length, 7);
    expect_equal();
    dims.resize(1);
    model.resize(1);
    expect_equal();
  }
}

TEST(DimsTest, push_back_and_pop_back_rarely_move_the_numbers) {
  constexpr std::size_t length = 100'000;
  Dims dims;
  std::size_t moves = 0;
  const auto count_moves = [&](const auto& change) {
    const std::int64_t* const before = dims.data();
    change();
    moves += dims.data() == before ? 0U : 1U;
  };
  while (dims.size() < length) {
    count_moves([&] { dims.push_back(static_cast<std::int64_t>(dims.size())); });
    ASSERT_LE(moves, 17U) << "at " << dims.size();  // capacities double to 2^17 at most
  }
  EXPECT_EQ(dims[length / 2], static_cast<std::int64_t>(length / 2));
  moves = 0;
  while (!dims.empty()) {
    count_moves([&] { dims.pop_back(); });
    ASSERT_LE(moves, 1U) << "at " << dims.size();  // one move, from the heap into the object
  }
}

}  // namespace
}  // namespace byre::test
