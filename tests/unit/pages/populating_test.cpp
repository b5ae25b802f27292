// SPDX-License-Identifier: BSL-1.0
/// Which pages are made writable before they are written, and what is told where there is no memory for them.
#include <byre/functional/functionalize/detail/write_back.hpp>
#include <byre/memory/paged.hpp>
#include <byre/memory/pages.hpp>
#include <byre/tensor.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstring>

#include "support/child_process.hpp"
#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

constexpr std::size_t rows = 256;
constexpr std::size_t row_nbytes = 2 * page_nbytes;
constexpr std::int64_t columns = row_nbytes / sizeof(float);

/// Of zeros: `rows` of two pages.
Storage zeros() {
  Storage storage = Storage::allocate(rows * row_nbytes, paged_allocator());
  std::memset(storage.mutable_data(), 0, rows * row_nbytes);
  return storage;
}

/// An overlay of such data.
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

TEST_F(Populating, a_range_s_pages_are_made_writable_and_no_others) {
  WatchedSystem system;
  overlay_.mutable_range(page_nbytes + 1, page_nbytes);
  ASSERT_EQ(system.ranges().size(), 1U);
  expect_range(system, 0, 1, 2);
  overlay_.mutable_range(5 * page_nbytes, 1);
  expect_range(system, 1, 5, 1);
  overlay_.mutable_range(5 * page_nbytes, 0);
  EXPECT_EQ(system.ranges().size(), 2U);
}

TEST_F(Populating, threads_of_a_loop_make_the_pages_of_their_own_ranges_writable) {
  Storage clone = base_.lazy_clone();
  WatchedSystem system;
  clone.mutable_range_in_parallel(3 * page_nbytes, page_nbytes);
  clone.mutable_range_in_parallel(7 * page_nbytes + 1, 1);
  clone.mutable_range_in_parallel(0, 0);
  EXPECT_EQ(clone.origin(), Origin::overlay);
  const auto& ranges = system.ranges();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].data, clone.data() + 3 * page_nbytes);
  EXPECT_EQ(ranges[1].data, clone.data() + 7 * page_nbytes);
}

TEST_F(Populating, a_range_of_a_loop_without_memory_is_refused_and_unchanged) {
  {
    WatchedSystem system;
    system.fail_after(0);
    EXPECT_THROW(overlay_.mutable_range_in_parallel(10, 100), OutOfMemory);
  }
  EXPECT_TRUE(is_zero());
  EXPECT_EQ(overlay_.mutable_range_in_parallel(10, 100).size(), 100U);
}

TEST_F(Populating, ordinary_memory_is_not_asked_about) {
  Storage ordinary = Storage::allocate(1 << 20);
  WatchedSystem system;
  ordinary.mutable_range(0, 1 << 20);
  Tensor t = Tensor::of<float>({2}, {1, 2});
  fill_(t, 3);
  EXPECT_TRUE(system.ranges().empty());
}

TEST_F(Populating, a_range_without_memory_is_refused_and_unchanged) {
  {
    WatchedSystem system;
    system.fail_after(0);
    EXPECT_TRUE(says(complaint_of<OutOfMemory>([&] { overlay_.mutable_range(10, 100); }),
                     "100 bytes", "paged allocator"));
  }
  EXPECT_TRUE(is_zero());
  EXPECT_EQ(overlay_.mutable_range(10, 100).size(), 100U);
}

TEST_F(Populating, an_overlay_without_memory_for_pages_of_another_is_a_copy) {
  overlay_.mutable_data()[0] = std::byte{1};
  Storage clone = overlay_.lazy_clone();
  WatchedSystem system;
  system.fail_after(0);
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_EQ(clone.origin(), Origin::allocated);
  EXPECT_EQ(clone.data()[0], std::byte{1});
}

TEST_F(Populating, a_file_without_memory_for_its_pages_is_ordinary_memory) {
  WatchedSystem system;
  system.fail_after(0);
  EXPECT_EQ(Buffer::allocate(4 << 20, paged_allocator()).origin(), Origin::allocated);
}

/// Old systems do not say which pages were written, or not at once; and locked-down ones do not at all.
class OldSystem : public testing::TestWithParam<bool> {};

TEST_P(OldSystem, overlays_of_overlays_have_what_was_written) {
  WatchedSystem system;
  system.has_pagemap_scan = false;
  system.has_pagemap = GetParam();
  constexpr std::size_t nbytes = 1000 * page_nbytes - 5;
  Buffer base = Buffer::allocate(nbytes, paged_allocator());
  std::memset(base.mutable_data(), 1, nbytes);
  Buffer overlay = base;
  const std::size_t places[] = {0, 7 * page_nbytes + 5, 511 * page_nbytes, 512 * page_nbytes,
                                nbytes - 1};
  for (const std::size_t place : places) {
    overlay.mutable_data()[place] = std::byte{2};
  }
  for (const bool is_written_back : {false, true}) {
    if (is_written_back) {
      base = Buffer();
    }
    Buffer clone = overlay;
    ASSERT_EQ(clone.materialize(), Materialized::overlaid);
    ASSERT_EQ(std::memcmp(clone.data(), overlay.data(), nbytes), 0);
    for (const std::size_t place : places) {
      EXPECT_EQ(clone.data()[place], std::byte{2});
    }
  }
}

TEST_P(OldSystem, overlays_of_files_have_what_was_written_at_their_end) {
  WatchedSystem system;
  system.has_pagemap_scan = false;
  system.has_pagemap = GetParam();
  const TemporaryFolder folder;
  constexpr std::size_t nbytes = 100 * page_nbytes + 5;
  write_file(folder / "file", std::string(nbytes, 'f'));
  Buffer overlay = Buffer::map_file(folder / "file");
  overlay.mutable_data()[nbytes - 1] = std::byte{'w'};
  Buffer clone = overlay;
  ASSERT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[nbytes - 1], std::byte{'w'});
  EXPECT_EQ(clone.data()[nbytes - 2], std::byte{'f'});
}

INSTANTIATE_TEST_SUITE_P(WithPagemap, OldSystem, testing::Bool());

TEST_F(Populating, without_memory_files_it_is_ordinary_memory) {
  // There may be one already: a fork leaves it behind.
  WatchedSystem system;
  system.has_memory_files = false;
  const ChildResult result = run_in_child(
      [](int) {
        const Buffer buffer = Buffer::allocate(4 << 20, paged_allocator());
        ::_exit(buffer.origin() == Origin::allocated ? EXIT_SUCCESS : EXIT_FAILURE);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text();
}

TEST_F(Populating, rows_that_are_written_are_made_writable) {
  Tensor t = tensor();
  WatchedSystem system;
  Tensor part = t.narrow(0, 3, 2);
  fill_(part, 1);
  ASSERT_EQ(system.ranges().size(), 2U);
  expect_range(system, 0, 6, 2);
  expect_range(system, 1, 8, 2);
}

TEST_F(Populating, of_a_column_a_page_of_each_row_is_made_writable) {
  Tensor t = tensor();
  WatchedSystem system;
  Tensor part = t.narrow(1, columns - 1, 1);
  fill_(part, 1);
  ASSERT_EQ(system.ranges().size(), rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto& range = system.ranges()[row];
    EXPECT_EQ(range.data, data() + (2 * row + 1) * page_nbytes);
    EXPECT_EQ(range.nbytes, page_nbytes);
  }
}

TEST_F(Populating, of_one_element_its_page_is_made_writable) {
  Tensor t = tensor();
  WatchedSystem system;
  t.set_at<float>({7, 0}, 2);
  ASSERT_EQ(system.ranges().size(), 1U);
  expect_range(system, 0, 14, 1);
  EXPECT_EQ(t.at<float>({7, 0}), 2);
}

TEST_F(Populating, functionalized_code_without_memory_for_pages_writes_nothing) {
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

TEST_F(Populating, a_pointer_to_all_makes_nothing_writable) {
  Tensor t = tensor();
  const WatchedSystem system;
  t.mutable_data<float>()[0] = 1;
  EXPECT_TRUE(system.ranges().empty());
}

TEST_F(Populating, a_kernel_without_memory_for_pages_writes_nothing) {
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
