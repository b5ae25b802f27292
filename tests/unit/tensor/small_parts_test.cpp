// SPDX-License-Identifier: BSL-1.0
/// Clones of small parts of a storage: what they copy, keep and share, and the strides that they have.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "support/counted.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t width = 64;

/// 0, 1, 2, ... by rows.
Tensor numbered() {
  std::vector<std::int32_t> values(width * width);
  std::iota(values.begin(), values.end(), 0);
  return Tensor::of<std::int32_t>({width, width}, values);
}

/// The clone equals its source, and holds so many elements, in a storage of its own.
void expect_part(const Tensor& clone, const Tensor& source, std::int64_t numel) {
  EXPECT_EQ(sum(eq(clone, source)).at<std::int64_t>({}), source.numel());
  EXPECT_EQ(clone.storage().nbytes(), static_cast<std::size_t>(numel) * 4);
  EXPECT_EQ(clone.storage_offset(), 0);
  EXPECT_TRUE(clone.storage().is_unique());
}

TEST(SmallParts, are_copied_by_each_operation_that_clones) {
  const Tensor x = numbered();
  const Tensor row = x.select(0, 3);
  expect_part(row.lazy_clone(), row, width);
  expect_part(row.contiguous(), row, width);
  expect_part(row.to(Device::cpu()), row, width);
  expect_part(row.reshape({8, -1}), row.view({8, -1}), width);
  Tensor reshaped = row;
  reshaped.reshape_({8, 8});
  EXPECT_EQ(reshaped.storage().nbytes(), width * 4U);
  EXPECT_TRUE(x.storage().is_unique()) << "nothing shares it";
}

TEST(SmallParts, of_half_or_more_share_the_storage) {
  const Tensor x = numbered();
  for (const Tensor& each : {x, x.t(), x.slice(0, 0, width / 2), x.slice(0, width / 2, width),
                             x.slice(1, 0, width, 2), x.slice(0, 1)}) {
    EXPECT_TRUE(each.lazy_clone().storage().shares_data_with(x.storage()));
    EXPECT_EQ(each.lazy_clone().strides(), each.strides());
  }
  const Tensor less = x.slice(0, 1, width / 2);
  EXPECT_FALSE(less.lazy_clone().storage().shares_data_with(x.storage()));
}

TEST(SmallParts, keep_the_order_of_their_strides) {
  const Tensor x = numbered();
  const Tensor block = x.slice(0, 0, 4).slice(1, 8, 10);
  expect_part(block.lazy_clone(), block, 8);
  EXPECT_EQ(block.lazy_clone().strides(), (Dims{2, 1}));
  expect_part(block.t().lazy_clone(), block.t(), 8);
  EXPECT_EQ(block.t().lazy_clone().strides(), (Dims{1, 2}));
  const Tensor column = x.select(1, 5);
  expect_part(column.lazy_clone(), column, width);
  EXPECT_TRUE(column.lazy_clone().is_contiguous());
  const Tensor split = column.reshape({8, 8});
  expect_part(split, column.view({8, 8}), width);
}

TEST(SmallParts, repeat_what_their_sources_repeat) {
  const Tensor x = numbered();
  const Tensor repeated = x.slice(0, 3, 4).expand({1000, width});
  expect_part(repeated.lazy_clone(), repeated, width);
  EXPECT_EQ(repeated.lazy_clone().strides(), (Dims{0, 1}));
  const Tensor column = x.slice(1, 3, 4).expand({width, 100});
  expect_part(column.lazy_clone(), column, width);
  EXPECT_EQ(column.lazy_clone().strides(), (Dims{1, 0}));
  const Tensor element = x.as_strided({1000000}, {0}, 7);
  expect_part(element.reshape({1000, 1000}), element.view({1000, 1000}), 1);
}

TEST(SmallParts, that_overlap_are_copied_with_all_between) {
  const Tensor x = numbered();
  const Tensor windows = x.select(0, 3).unfold(0, 8, 1);
  Tensor clone = windows.lazy_clone();
  expect_part(clone, windows, width);
  EXPECT_EQ(clone.strides(), windows.strides());
  clone.set_at<std::int32_t>({0, 1}, -1);
  EXPECT_EQ(clone.at<std::int32_t>({1, 0}), -1) << "the windows overlap as before";
  const Tensor often = x.as_strided({60, 60}, {1, 1}, 0);
  expect_part(often.lazy_clone(), often, 119);
  const Tensor wide = x.as_strided({3, 3}, {width * 15, width * 15}, 0);
  EXPECT_TRUE(wide.lazy_clone().storage().shares_data_with(x.storage()));
}

TEST(SmallParts, without_elements_keep_nothing) {
  const Tensor x = numbered();
  const Tensor none = x.slice(0, 3, 3);
  EXPECT_EQ(none.lazy_clone().storage().nbytes(), 0U);
  EXPECT_EQ(none.lazy_clone().sizes(), (Dims{0, width}));
  EXPECT_EQ(x.slice(1, 3, 3).lazy_clone().strides(), (Dims{1, 1}));
  EXPECT_EQ(x.as_strided({0, 4}, {0, 1}, 0).lazy_clone().storage().nbytes(), 0U);
  EXPECT_TRUE(x.storage().is_unique());
}

TEST(SmallParts, of_a_mapped_file_share_it) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(1000, 'f'));
  const Tensor x = Tensor::over(Storage::map_file(folder / "file"), {1000}, DType::u8);
  EXPECT_TRUE(x.slice(0, 0, 10).lazy_clone().storage().shares_data_with(x.storage()));
}

TEST(SmallParts, hold_their_own_bytes_once_the_rest_is_gone) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "counts nothing without stats";
  }
  const Counted counted;
  Tensor x = numbered();
  Tensor part = x.slice(0, 0, 2).reshape({-1});
  const auto whole = counted.since().live_bytes;
  part.set_at<std::int32_t>({0}, 9);
  EXPECT_EQ(counted.since().bytes_copied, 0) << counted.text();
  EXPECT_EQ(counted.since().live_bytes, whole) << counted.text();
  EXPECT_EQ(x.at<std::int32_t>({0, 0}), 0);
  x = Tensor();
  EXPECT_LE(counted.since().live_bytes, 2 * width * 4 + 1024) << counted.text();
}

}  // namespace
}  // namespace byre::test
