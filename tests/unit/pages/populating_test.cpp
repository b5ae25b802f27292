// SPDX-License-Identifier: BSL-1.0
/// Which pages are made writable in advance, and the errors if memory for them is lacking.
#include <byre/functional/functionalize/detail/write_back.hpp>
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "paged_buffers.hpp"
#include "support/complaint.hpp"
#include "support/features.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

constexpr std::size_t rows = 256;
constexpr std::size_t row_nbytes = 2 * page_nbytes;
constexpr std::int64_t columns = row_nbytes / sizeof(float);

/// Storage of zeros: `rows` rows of two pages.
Storage zeros() {
  Storage storage = Storage::allocate(rows * row_nbytes, paged_allocator());
  std::memset(storage.mutable_data(), 0, rows * row_nbytes);
  return storage;
}

/// A fixture with an overlay of zeros().
class Populating : public testing::Test {
 protected:
  std::byte* data() const { return const_cast<std::byte*>(overlay_.data()); }
  Tensor tensor() const {
    return Tensor::over(overlay_, {static_cast<std::int64_t>(rows), columns}, DType::f32);
  }
  bool is_zero() const {
    return data()[0] == std::byte{0} && std::memcmp(data(), data() + 1, rows * row_nbytes - 1) == 0;
  }
  void expect_range(const WatchedSystem& system, std::size_t number, std::size_t first_page,
                    std::size_t pages) const {
    ASSERT_LT(number, system.ranges().size());
    const auto& range = system.ranges()[number];
    EXPECT_EQ(range.data, data() + first_page * page_nbytes);
    EXPECT_GT(range.nbytes, (pages - 1) * page_nbytes);
    EXPECT_LE(range.nbytes, pages * page_nbytes);
  }

  Storage base_ = zeros();
  Storage overlay_ = [this] {
    Storage clone = base_.lazy_clone();
    clone.materialize();
    return clone;
  }();
};

TEST_F(Populating, mutable_range_populates_only_the_pages_of_the_range) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  Storage clone = base_.lazy_clone();
  Storage ordinary = Storage::allocate(1 << 20);
  WatchedSystem system;
  system.interruptions = 2;  // each interruption repeats the call
  overlay_.mutable_range(page_nbytes + 1, page_nbytes);
  ASSERT_EQ(system.ranges().size(), 3U);
  expect_range(system, 2, 1, 2);
  overlay_.mutable_range(5 * page_nbytes, 1);
  expect_range(system, 3, 5, 1);
  overlay_.mutable_range(5 * page_nbytes, 0);
  clone.mutable_range_in_parallel(7 * page_nbytes + 1, 1);
  clone.mutable_range_in_parallel(0, 0);
  ordinary.mutable_range(0, 1 << 20);
  ASSERT_EQ(system.ranges().size(), 5U);
  EXPECT_EQ(clone.origin(), Origin::overlay);
  EXPECT_EQ(system.ranges()[4].data, clone.data() + 7 * page_nbytes);
}

TEST_F(Populating, a_range_whose_pages_lack_memory_is_refused_and_unchanged) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const shadow::ReshapeModeScope scope(shadow::ReshapeMode::error);
  Tensor t = tensor();
  const Tensor reshaped = t.reshape({-1});
  {
    WatchedSystem system;
    system.fail_after(0);
    EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { overlay_.mutable_range(10, 100); }),
                     "100 bytes", "paged allocator"));
    EXPECT_THROW(overlay_.mutable_range_in_parallel(10, 100), OutOfMemory);
    EXPECT_THROW(t.set_at<float>({7, 0}, 2), OutOfMemory);
    EXPECT_EQ(Buffer::allocate(4 << 20, paged_allocator()).origin(), Origin::allocated);
  }
  EXPECT_EQ(reshaped.at<float>({0}), 0) << "a read after a recorded write would throw";
  EXPECT_TRUE(is_zero());
  EXPECT_EQ(overlay_.mutable_range_in_parallel(10, 100).size(), 100U);
  EXPECT_EQ(overlay_.mutable_range(10, 100).size(), 100U);
}

/// The offset in its file at which a mapping begins.
std::size_t offset_in_file(const void* mapping) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::string others;
    std::size_t offset = 0;
    if (words >> std::hex >> begin >> others >> others >> offset &&
        begin == reinterpret_cast<std::uintptr_t>(mapping)) {
      return offset;
    }
  }
  return 0;  // an emulator may show other addresses
}

TEST_F(Populating, large_data_is_put_in_huge_pages) {
  if (!uses("huge_pages") || !uses("populate")) {
    GTEST_SKIP() << "the library does not use huge pages, or does not populate pages";
  }
  const Buffer before = Buffer::allocate(least_paged_nbytes, paged_allocator());
  WatchedSystem system;
  const Buffer buffer = Buffer::allocate(2 * huge_page_nbytes + 1, paged_allocator());
  ASSERT_EQ(system.ranges().size(), 2U);
  EXPECT_EQ(system.ranges()[0].data, buffer.data());
  EXPECT_EQ(system.ranges()[1].data, buffer.data() + huge_page_nbytes);
  ASSERT_EQ(system.advised(collapse_advice).size(), 1U);
  EXPECT_EQ(system.advised(collapse_advice)[0].data, buffer.data());
  EXPECT_EQ(system.advised(collapse_advice)[0].nbytes, 2 * huge_page_nbytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % huge_page_nbytes, 0U);
  EXPECT_EQ(offset_in_file(buffer.data()) % huge_page_nbytes, 0U);

  const Buffer small = Buffer::allocate(huge_page_nbytes - page_nbytes, paged_allocator());
  EXPECT_EQ(system.advised(collapse_advice).size(), 1U);
  const Buffer huge = Buffer::allocate(huge_page_nbytes, paged_allocator());
  EXPECT_EQ(offset_in_file(huge.data()) % huge_page_nbytes, 0U);
}

TEST_F(Populating, writes_to_rows_and_elements_populate_only_their_pages) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  Tensor t = tensor();
  const WatchedSystem system;
  Tensor part = t.narrow(0, 3, 2);
  fill_(part, 1);
  ASSERT_EQ(system.ranges().size(), 2U);
  expect_range(system, 0, 6, 2);
  expect_range(system, 1, 8, 2);
  t.set_at<float>({7, 0}, 2);
  EXPECT_EQ(system.ranges().size(), 3U);
  expect_range(system, 2, 14, 1);
  EXPECT_EQ(t.at<float>({7, 0}), 2);
  t.mutable_data<float>()[0] = 1;
  EXPECT_EQ(system.ranges().size(), 3U) << "mutable_data() must populate nothing";
}

TEST_F(Populating, filling_a_column_populates_one_page_of_each_row) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const Tensor t = tensor();
  const Tensor pairs = t.view({rows / 2, 2, columns});  // two dimensions have strides above a page
  for (Tensor part : {t.narrow(1, columns - 1, 1), pairs.narrow(2, columns - 1, 1)}) {
    const WatchedSystem system;
    fill_(part, 1);
    ASSERT_EQ(system.ranges().size(), rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto& range = system.ranges()[row];
      EXPECT_EQ(range.data, data() + (2 * row + 1) * page_nbytes);
      EXPECT_EQ(range.nbytes, page_nbytes);
    }
  }
}

TEST_F(Populating, functionalized_code_without_memory_for_pages_writes_nothing) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  const Tensor t = tensor();
  Tensor ones = Tensor::zeros({1, columns}, DType::f32);
  fill_(ones, 1);
  const auto write = [&] {
    functional::WriteBack writes("test");
    writes.write(t.narrow(0, 3, 1), ones);
    writes.write(t.narrow(0, 8, 1), ones);
    writes.commit();
  };
  {
    WatchedSystem system;
    system.fail_after(1);
    EXPECT_THROW(write(), OutOfMemory);
    EXPECT_EQ(system.ranges().size(), 2U);
  }
  EXPECT_TRUE(is_zero());
  write();
  EXPECT_EQ(t.at<float>({8, 5}), 1);
}

TEST_F(Populating, a_kernel_without_memory_for_pages_writes_nothing) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  Tensor t = tensor();
  const Tensor ones = Tensor::of<float>({1}, {1});
  const Tensor whole = Tensor::zeros(t.sizes(), DType::f32);
  {
    WatchedSystem system;
    system.fail_after(rows / 2);
    EXPECT_THROW(fill_(t, 1), OutOfMemory);
    Tensor column = t.narrow(1, 5, 1);
    EXPECT_THROW(copy_(column, ones), OutOfMemory);
    EXPECT_THROW(add_(t, ones), OutOfMemory);
    system.fail_after(0);
    EXPECT_THROW(copy_(t, whole), OutOfMemory);
    EXPECT_THROW(t.set_at<float>({7, 0}, 2), OutOfMemory);
  }
  EXPECT_TRUE(is_zero());
  fill_(t, 1);
  EXPECT_EQ(t.at<float>({255, 0}), 1);
}

}  // namespace
}  // namespace byre::test
