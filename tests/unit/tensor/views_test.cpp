// SPDX-License-Identifier: BSL-1.0
// Views as pure functions of layouts: their errors, and cases that NumPy lacks, for example strides
// of dimensions of size 1, offsets of views without elements, and huge numbers.
// tests/tensor/views_against_numpy.py tests all other cases.
#include <byre/memory/allocator.hpp>
#include <byre/tensor/views.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/complaint.hpp"
#include "support/tensor/layout_text.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t huge_number = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

const Layout scalar = dense({});
const Layout cube = dense({2, 3, 4});

std::string texts_of(const std::vector<Layout>& layouts) {
  std::string text;
  for (const Layout& layout : layouts) {
    text += (text.empty() ? "" : "; ") + text_of(layout);
  }
  return text;
}

/// Expects that `view` throws a ShapeError whose message contains `words`.
template <class View>
void expect_refused(View view, const std::string& words) {
  EXPECT_TRUE(says(complaint_of<ShapeError>(view), words));
}

TEST(Views, axes_out_of_range_or_repeated_are_rejected) {
  expect_refused([] { views::permute(cube, {0, 1}); }, "permute: 2 axes [0, 1]");
  expect_refused([] { views::permute(cube, {0, 1, 1}); }, "dimension 1 is named twice");
  expect_refused([] { views::permute(cube, {0, 1, -2}); }, "dimension 1 is named twice");
  expect_refused([] { views::permute(cube, {0, 1, 3}); }, "dimension 3 is out of range");
  expect_refused([] { views::transpose(cube, 0, 3); }, "transpose: dimension 3 is out of range");
  expect_refused([] { views::t(cube); }, "t: the tensor has 3 dimensions, [2, 3, 4]");
  expect_refused([] { views::movedim(cube, {0}, {1, 2}); }, "movedim: 1 dimensions [0] to 2");
  expect_refused([] { views::movedim(cube, {0, 1}, {2}); }, "movedim: 2 dimensions [0, 1] to 1");
  expect_refused([] { views::movedim(cube, {0, 0}, {1, 2}); }, "named twice");
  expect_refused([] { views::movedim(cube, {0, 1}, {2, 2}); }, "named twice");
  expect_refused([] { views::squeeze(cube, 4); }, "squeeze: dimension 4 is out of range");
  expect_refused([] { views::diagonal(cube, 0, 1, -2); }, "dimension 1 is named twice");
  expect_refused([] { views::diagonal(dense({3})); }, "dimension 1 is out of range");
  expect_refused([] { views::diagonal(scalar); }, "the tensor has no dimensions");
  expect_refused([] { views::flatten(cube, 2, 1); },
                 "flatten: cannot flatten from dimension 2 to dimension 1");
  expect_refused([] { views::flatten(views::t(dense({2, 3}))); }, "Use reshape");
}

TEST(Views, new_dimensions_of_size_1_have_dense_strides) {
  EXPECT_EQ(text_of(views::unsqueeze(dense({2, 3}), 0)), "[1, 2, 3] by [6, 3, 1] from 0");
  EXPECT_EQ(text_of(views::unsqueeze(dense({2, 3}), 2)), "[2, 3, 1] by [3, 1, 1] from 0");
  EXPECT_EQ(text_of(views::unsqueeze(dense({2, 3}), -1)), "[2, 3, 1] by [3, 1, 1] from 0");
  EXPECT_EQ(text_of(views::unsqueeze(scalar, -1)), "[1] by [1] from 0");
  EXPECT_EQ(text_of(views::squeeze(dense({1, 3, 1, 2}), -2)), "[1, 3, 2] by [6, 2, 1] from 0");
  EXPECT_EQ(text_of(views::flatten(scalar)), "[1] by [1] from 0");
  expect_refused(
      [] {
        views::unsqueeze(dense({2, 3}), 3);
      },
      "unsqueeze: dimension 3 is out of range");
  expect_refused([] { views::unsqueeze(dense({2, 3}), -4); }, "dimension -4 is out of range");
}

TEST(Views, expand_repeats_elements_by_strides_of_0) {
  const Layout column = dense({3, 1});
  EXPECT_EQ(text_of(views::expand(column, {2, -1, 4})), "[2, 3, 4] by [0, 1, 0] from 0");
  EXPECT_EQ(text_of(views::expand(column, {3, 0})), "[3, 0] by [1, 0] from 0");
  EXPECT_EQ(text_of(views::expand(dense({0, 1}), {0, 5})), "[0, 5] by [1, 0] from 0");
  expect_refused([&] { views::expand(column, {3}); },
                 "cannot expand [3, 1] to [3]: expand() does not remove dimensions");
  expect_refused([&] { views::expand(column, {2, 4}); }, "dimension 0 has size 3");
  expect_refused([&] { views::expand(column, {-1, 3, 1}); }, "negative");
  expect_refused([&] { views::expand(column, {3, -2}); }, "negative");
  expect_refused([&] { views::expand(column, {1LL << 40, 3, 1LL << 40}); }, "more elements");
}

TEST(Views, select_rejects_an_index_out_of_range) {
  for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-4}, huge_number, lowest}) {
    expect_refused([=] { views::select(cube, 1, index); },
                   "select: index " + std::to_string(index) + " is out of range for dimension 1");
  }
  expect_refused([] { views::select(scalar, 0, 0); }, "select: dimension 0 is out of range");
  expect_refused([] { views::select(dense({0}), 0, 0); }, "out of range");
}

TEST(Views, slice_clamps_bounds_as_python_does) {
  const Layout ten = dense({10});
  EXPECT_EQ(text_of(views::slice(ten, 0, -100, 100)), "[10] by [1] from 0");
  EXPECT_EQ(text_of(views::slice(ten, 0, lowest, huge_number, huge_number)), "[1] by [1] from 0");
  EXPECT_EQ(text_of(views::slice(ten, 0, 7, 2)), "[0] by [1] from 0");
  EXPECT_EQ(text_of(views::slice(ten, 0, 100, 200)), "[0] by [1] from 0");
  EXPECT_EQ(text_of(views::slice(ten, 0, 0, -1, 4)), "[3] by [4] from 0");
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{-1}, lowest}) {
    expect_refused([=] { views::slice(dense({10}), 0, 9, 0, step); },
                   "slice: the step is " + std::to_string(step) + ", allowed are 1 and more");
  }
  expect_refused([] { views::slice(scalar, 0); }, "slice: dimension 0 is out of range");
}

TEST(Views, narrow_rejects_a_range_out_of_bounds) {
  EXPECT_EQ(text_of(views::narrow(cube, 1, -1, 1)), "[2, 1, 4] by [12, 4, 1] from 8");
  EXPECT_EQ(text_of(views::narrow(cube, 1, 3, 0)), "[2, 0, 4] by [12, 4, 1] from 0");
  const std::vector<std::pair<std::int64_t, std::int64_t>> outside{
      {0, 4}, {2, 2}, {4, 0}, {-4, 1}, {0, -1}, {1, huge_number}, {huge_number, 1}, {lowest, 1}};
  for (const auto& [start, length] : outside) {
    expect_refused([start = start, length = length] { views::narrow(cube, 1, start, length); },
                   "are out of range for dimension 1 of [2, 3, 4]");
  }
}

TEST(Views, split_chunk_and_unbind_return_parts_that_cover_the_dimension) {
  const Layout five = dense({5});
  EXPECT_EQ(texts_of(views::split(five, huge_number)), "[5] by [1] from 0");
  EXPECT_EQ(texts_of(views::split(five, Dims{1, 0, 4})),
            "[1] by [1] from 0; [0] by [1] from 0; [4] by [1] from 1");
  EXPECT_EQ(texts_of(views::split(dense({0}), 0)), "[0] by [1] from 0");
  EXPECT_EQ(texts_of(views::split(dense({0}), Dims{})), "");
  EXPECT_EQ(views::chunk(five, 9).size(), 5U);
  EXPECT_EQ(views::chunk(dense({0}), 2).size(), 2U);
  EXPECT_EQ(views::unbind(dense({0, 3})).size(), 0U);
  expect_refused([&] { views::split(five, 0); }, "split: parts of 0 elements");
  expect_refused([&] { views::split(five, -1); }, "split: parts of -1 elements");
  for (const Dims& sizes : {Dims{2, 2}, Dims{6, -1}, Dims{-1, 6}, Dims{huge_number, huge_number}}) {
    expect_refused([&] { views::split(five, sizes); }, "do not add up to dimension 0");
  }
  expect_refused([&] { views::chunk(five, 0); }, "chunk: cannot make 0 parts");
  expect_refused([] { views::chunk(scalar, 1); },
                 "chunk: dimension 0 is out of range: the tensor has no dimensions");
  expect_refused([] { views::unbind(scalar); }, "unbind: dimension 0 is out of range");
}

TEST(Views, more_parts_than_fit_in_memory_throw_out_of_memory) {
  const auto many = static_cast<std::int64_t>(max_nbytes / 2);
  for (const std::int64_t count : {many, std::int64_t{1} << 60, huge_number}) {
    EXPECT_THROW(views::chunk(dense({0}), count), OutOfMemory) << count;
  }
  EXPECT_THROW(views::unbind(dense({many, 0})), OutOfMemory);
  EXPECT_THROW(views::split(views::expand(dense({1}), {many}), 1), OutOfMemory);
}

TEST(Views, diagonals_outside_of_a_matrix_are_empty) {
  for (const std::int64_t offset : {std::int64_t{4}, std::int64_t{-3}, huge_number, lowest}) {
    EXPECT_EQ(views::diagonal(dense({3, 4}), offset).numel(), 0) << offset;
    EXPECT_EQ(views::diagonal(dense({3, 4}), offset).offset, 0) << offset;
  }
}

TEST(Views, unfold_returns_windows_and_rejects_invalid_sizes) {
  EXPECT_EQ(text_of(views::unfold(cube, 1, 3, huge_number)),
            "[2, 1, 4, 3] by [12, 4, 1, 4] from 0");
  EXPECT_EQ(text_of(views::unfold(dense({2}), 0, 0, 1)), "[3, 0] by [1, 1] from 0");
  const Layout one{{}, {}, 5};
  EXPECT_EQ(text_of(views::unfold(one, 0, 1, 1)), "[1] by [1] from 5");
  EXPECT_EQ(text_of(views::unfold(one, -1, 0, huge_number)), "[0] by [1] from 5");
  expect_refused([&] { views::unfold(one, 0, 2, 1); }, "unfold: windows of 2 elements");
  expect_refused([&] { views::unfold(one, 0, 1, 0); }, "1 elements, 0 apart");
  expect_refused([&] { views::unfold(one, 1, 1, 1); }, "dimension 1 is out of range");
  expect_refused([] { views::unfold(dense({7}), 0, 8, 1); }, "unfold: windows of 8 elements");
  expect_refused([] { views::unfold(dense({7}), 0, 3, 0); }, "3 elements, 0 apart");
  expect_refused([] { views::unfold(dense({7}), 0, -1, 1); }, "windows of -1 elements");
}

}  // namespace
}  // namespace byre::test
