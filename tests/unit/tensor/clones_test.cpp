// SPDX-License-Identifier: BSL-1.0
/// Lazy and writable clones: which bytes they copy, share and retain. Includes clones of tensors
/// that are a small part of their storage. tests/equivalence compares clones of tensors and their
/// views with a model in random programs, and stress/programs compares clones of storages.
#include <byre/memory/host_allocators.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/counted.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t width = 64;

/// The elements 0, 1, 2, ... in row-major order.
Tensor numbered() {
  std::vector<std::int32_t> values(width * width);
  std::iota(values.begin(), values.end(), 0);
  return Tensor::of<std::int32_t>({width, width}, values);
}

/// Expects that the clone equals its source and is the only owner of a storage of `numel` elements.
void expect_part(const Tensor& clone, const Tensor& source, std::int64_t numel) {
  EXPECT_EQ(sum(eq(clone, source)).at<std::int64_t>({}), source.numel());
  EXPECT_EQ(clone.storage().nbytes(), static_cast<std::size_t>(numel) * 4);
  EXPECT_EQ(clone.storage_offset(), 0);
  EXPECT_TRUE(clone.storage().is_unique());
}

TEST(SmallParts, every_kind_of_clone_copies_a_small_part_immediately) {
  const Tensor x = numbered();
  const Tensor row = x.select(0, 3);
  expect_part(row.lazy_clone(), row, width);
  expect_part(row.contiguous(), row, width);
  expect_part(row.to(Device::cpu()), row, width);
  expect_part(row.reshape({8, -1}), row.view({8, -1}), width);
  Tensor reshaped = row;
  reshaped.reshape_({8, 8});
  EXPECT_EQ(reshaped.storage().nbytes(), width * 4U);
  EXPECT_TRUE(x.storage().is_unique()) << "a clone shares the data of x";
}

TEST(SmallParts, a_clone_of_half_of_the_storage_or_more_shares_the_data) {
  const Tensor x = numbered();
  for (const Tensor& each : {x, x.t(), x.slice(0, 0, width / 2), x.slice(0, width / 2, width),
                             x.slice(1, 0, width, 2), x.slice(0, 1)}) {
    EXPECT_TRUE(each.lazy_clone().storage().shares_data_with(x.storage()));
    EXPECT_EQ(each.lazy_clone().strides(), each.strides());
  }
  const Tensor less = x.slice(0, 1, width / 2);
  EXPECT_FALSE(less.lazy_clone().storage().shares_data_with(x.storage()));
}

TEST(SmallParts, copies_of_small_parts_preserve_stride_order_and_repetition) {
  const Tensor x = numbered();
  const Tensor block = x.slice(0, 0, 4).slice(1, 8, 10);
  struct Part {
    Tensor seen;
    Dims strides;
    std::int64_t numel;  ///< of the copy, which includes all elements between overlapping ones
  };
  const Part parts[]{{block, {2, 1}, 8},
                     {block.t(), {1, 2}, 8},
                     {x.select(1, 5), {1}, width},
                     {x.slice(0, 3, 4).expand({1000, width}), {0, 1}, width},
                     {x.slice(1, 3, 4).expand({width, 100}), {1, 0}, width},
                     {x.select(0, 3).unfold(0, 8, 1), {1, 1}, width},
                     {x.as_strided({60, 60}, {1, 1}, 0), {1, 1}, 119}};
  for (const auto& [seen, strides, numel] : parts) {
    const Tensor clone = seen.lazy_clone();
    expect_part(clone, seen, numel);
    EXPECT_EQ(clone.strides(), strides);
  }
  Tensor windows = parts[5].seen.lazy_clone();
  windows.set_at<std::int32_t>({0, 1}, -1);
  EXPECT_EQ(windows.at<std::int32_t>({1, 0}), -1) << "the windows of the clone must overlap";
  expect_part(x.select(1, 5).reshape({8, 8}), x.select(1, 5).view({8, 8}), width);
  const Tensor element = x.as_strided({1000000}, {0}, 7);
  expect_part(element.reshape({1000, 1000}), element.view({1000, 1000}), 1);
  const Tensor wide = x.as_strided({3, 3}, {width * 15, width * 15}, 0);
  EXPECT_TRUE(wide.lazy_clone().storage().shares_data_with(x.storage()));
}

TEST(SmallParts, a_clone_without_elements_retains_no_memory) {
  const Tensor x = numbered();
  const Tensor none = x.slice(0, 3, 3);
  EXPECT_EQ(none.lazy_clone().storage().nbytes(), 0U);
  EXPECT_EQ(none.lazy_clone().sizes(), (Dims{0, width}));
  EXPECT_EQ(x.slice(1, 3, 3).lazy_clone().strides(), (Dims{1, 1}));
  EXPECT_EQ(x.as_strided({0, 4}, {0, 1}, 0).lazy_clone().storage().nbytes(), 0U);
  EXPECT_TRUE(x.storage().is_unique());
}

TEST(SmallParts, a_clone_of_a_small_part_of_a_mapped_file_shares_the_data) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(1000, 'f'));
  const Tensor x = Tensor::over(Storage::map_file(folder / "file"), {1000}, DType::u8);
  EXPECT_TRUE(x.slice(0, 0, 10).lazy_clone().storage().shares_data_with(x.storage()));
}

class CountedClones : public WithStats {};

TEST_F(CountedClones, a_reshape_copies_nothing_before_its_result_is_written) {
  const Tensor x = Tensor::zeros({64, 64}, DType::f32);
  const Counted counted;
  Tensor reshaped = x.reshape({16, -1});
  EXPECT_EQ(counted.since().lazy_clones, 1) << counted.text();
  EXPECT_EQ(counted.since().copies, 0) << counted.text();
  EXPECT_EQ(counted.since().live_bytes, 0) << counted.text();
  reshaped.set_at<float>({3, 4}, 1.0F);
  EXPECT_EQ(counted.since().copies, 1) << counted.text();
  EXPECT_EQ(x.at<float>({12, 4}), 0.0F);
  const Counted counted_again;
  const Tensor transposed = x.t().reshape({-1});
  EXPECT_EQ(counted_again.since().lazy_clones, 0) << counted_again.text();
  EXPECT_GE(counted_again.since().live_bytes, 64 * 64 * 4) << counted_again.text();
}

TEST_F(CountedClones, clones_of_small_parts_do_not_retain_the_storage) {
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

constexpr std::int64_t side = 512;  // 512 * 512 elements of i32 are 1 MiB

/// A tensor of zeros in paged memory.
Tensor in_pages() {
  Tensor x = Tensor::empty({side, side}, DType::i32, paged_allocator());
  zero_(x);
  return x;
}

class WritableTensors : public WithStats {
 protected:
  void SetUp() override {
    Buffer paged = Buffer::allocate(std::size_t{side * side} * 4, paged_allocator());
    if (paged.writable_clone().memory_id() != paged.memory_id()) {
      GTEST_SKIP() << "this system has no pages that two mappings share";
    }
  }
};

TEST_F(WritableTensors, writable_clones_preserve_the_layout_and_copy_nothing) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  Tensor x = in_pages();
  std::int32_t* const pointer = x.mutable_data<std::int32_t>();
  for (Tensor source : {x, x.t(), x.slice(0, 100), x.slice(1, 0, side, 2)}) {
    const Counted counted;
    Tensor clone = source.writable_clone();
    EXPECT_EQ(counted.since().bytes_copied, 0);
    EXPECT_EQ(clone.sizes(), source.sizes());
    EXPECT_EQ(clone.strides(), source.strides());
    EXPECT_EQ(clone.storage_offset(), source.storage_offset());
    EXPECT_EQ(clone.dtype(), DType::i32);
    EXPECT_EQ(std::as_const(x).data<std::int32_t>(), pointer);
    EXPECT_FALSE(clone.aliases(x));
  }
  const Tensor row = x.select(0, 3);
  Tensor clone = x.writable_clone();
  pointer[3 * side] = 1;  // visible in all views of the source, and in no clone
  EXPECT_EQ(row.at<std::int32_t>({0}), 1);
  EXPECT_EQ(clone.at<std::int32_t>({3, 0}), 0);
}

TEST_F(WritableTensors, a_writable_clone_of_a_small_part_copies_it_immediately) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  const Tensor x = in_pages();
  Tensor column = x.select(1, 5).slice(0, 0, side, 2);
  const Counted counted;
  Tensor clone = column.writable_clone();
  EXPECT_EQ(clone.storage().nbytes(), clone.nbytes());
  EXPECT_EQ(clone.sizes(), column.sizes());
  EXPECT_EQ(x.storage().origin(), Origin::paged) << "the whole storage was cloned";
  EXPECT_EQ(counted.since().overlays, 0);
  clone.set_at<std::int32_t>({0}, 7);
  EXPECT_EQ(column.at<std::int32_t>({0}), 0);
}

TEST_F(WritableTensors, writes_to_a_writable_clone_do_not_affect_lazy_clones) {
  Tensor x = in_pages();
  const Tensor lazy = x.lazy_clone();
  Tensor clone = x.writable_clone();
  fill_(x, 1);
  fill_(clone, 2);
  EXPECT_EQ(sum(lazy).at<std::int64_t>({}), 0);
  EXPECT_EQ(sum(x).at<std::int64_t>({}), side * side);
  EXPECT_EQ(sum(clone).at<std::int64_t>({}), 2 * side * side);
}

TEST_F(CountedClones, writable_clones_on_a_device_are_copies) {
  Tensor there = Tensor::zeros({2, 3}, DType::f32, FakeDevice::first().device());
  const Counted counted;
  Tensor clone = there.writable_clone();
  EXPECT_EQ(counted.since().copies, 1);
  fill_(clone, 2);
  EXPECT_EQ(there.to(Device::cpu()).at<float>({1, 2}), 0);
  EXPECT_EQ(clone.to(Device::cpu()).at<float>({1, 2}), 2);
}

}  // namespace
}  // namespace byre::test
