// SPDX-License-Identifier: BSL-1.0
/// What copy sinks are told of each cause of a copy: bytes, cause, and the user's own line.
#include <byre/memory/host_allocators.hpp>
#include <byre/stats/events.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/at_once.hpp"
#include "support/recorder.hpp"
#include "support/user_allocators.hpp"

namespace byre::test {
namespace {

using stats::CopyCause;
using stats::CopyEvent;

Buffer of(std::size_t nbytes) {
  return Buffer::allocate(nbytes, aligned_allocator());
}

/// What every test here compares with: one event, from `line` of this file.
void expect_only(const Recorder& recorder, CopyCause cause, std::size_t nbytes, unsigned line) {
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(to_string(events[0].cause), to_string(cause));
  EXPECT_EQ(events[0].nbytes, nbytes);
  EXPECT_STREQ(events[0].site.file, __FILE__);
  EXPECT_EQ(events[0].site.line, line);
}

class CopyCauses : public testing::Test {
 protected:
  void SetUp() override {
    if (!BYRE_STATS) {
      GTEST_SKIP() << "built without stats";
    }
  }
};

TEST(CopyCause, is_written_as_it_is_spelled) {
  EXPECT_STREQ(to_string(CopyCause::shared), "shared");
  EXPECT_STREQ(to_string(CopyCause::pending), "pending");
  EXPECT_STREQ(to_string(CopyCause::read_only), "read_only");
  EXPECT_STREQ(to_string(CopyCause::borrowed), "borrowed");
  EXPECT_STREQ(to_string(CopyCause::resized), "resized");
}

TEST_F(CopyCauses, shared_is_a_write_to_data_with_other_owners) {
  const Buffer buffer = of(100);
  Buffer clone = buffer;
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  clone.mutable_data();
  expect_only(recorder, CopyCause::shared, 100, line);
}

TEST_F(CopyCauses, shared_is_told_with_the_line_of_materialize) {
  const Buffer buffer = of(100);
  Buffer clone = buffer;
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  clone.materialize();
  expect_only(recorder, CopyCause::shared, 100, line);
}

TEST_F(CopyCauses, shared_is_told_with_the_line_of_a_write_to_a_storage) {
  Storage storage = Storage::allocate(100, aligned_allocator());
  const Storage clone = storage.lazy_clone();
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  storage.mutable_data();
  expect_only(recorder, CopyCause::shared, 100, line);
}

TEST_F(CopyCauses, shared_is_told_with_the_line_a_caller_hands_down) {
  const Buffer buffer = of(100);
  Buffer clone = buffer;
  const Recorder recorder;
  clone.mutable_data(Wait::allowed, CallSite{__FILE__, 4711});
  expect_only(recorder, CopyCause::shared, 100, 4711);
}

TEST_F(CopyCauses, pending_is_a_write_by_the_last_owner_that_would_not_wait) {
  HaltingAllocator allocator;
  Buffer buffer = Buffer::allocate(100, allocator);
  Buffer clone = buffer;
  boost::thread copier([&] { clone.mutable_data(); });
  allocator.first_copy.await_entry();
  unsigned line = 0;
  {
    const Recorder recorder;
    line = __LINE__ + 1;
    buffer.mutable_data(Wait::never);
    expect_only(recorder, CopyCause::pending, 100, line);
  }
  allocator.first_copy.let_go();
  copier.join();
}

TEST_F(CopyCauses, read_only_is_a_write_to_memory_lent_for_reading) {
  const std::array<std::byte, 40> lent{};
  Buffer buffer = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  buffer.mutable_data();
  expect_only(recorder, CopyCause::read_only, 40, line);
}

TEST_F(CopyCauses, read_only_is_a_write_to_a_mapped_file) {
  const auto path = std::filesystem::path(testing::TempDir()) / "byre_copy_causes_test";
  std::ofstream(path) << "a file of 21 bytes...";
  Buffer buffer = Buffer::map_file(path, aligned_allocator());
  {
    const Recorder recorder;
    const unsigned line = __LINE__ + 1;
    buffer.mutable_data();
    expect_only(recorder, CopyCause::read_only, 21, line);
  }
  std::filesystem::remove(path);
}

TEST_F(CopyCauses, borrowed_is_a_clone_of_memory_that_was_lent) {
  std::array<std::byte, 40> lent{};
  const Buffer buffer = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  const Buffer clone = buffer.lazy_clone();
  expect_only(recorder, CopyCause::borrowed, 40, line);
}

TEST_F(CopyCauses, borrowed_is_told_with_the_line_of_the_copy_constructor) {
  std::array<std::byte, 40> lent{};
  const Buffer buffer = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  const Buffer clone = buffer;
  expect_only(recorder, CopyCause::borrowed, 40, line);
}

TEST_F(CopyCauses, borrowed_is_told_with_the_line_of_a_storages_clone) {
  std::array<std::byte, 40> lent{};
  const Storage storage = Storage::borrow(lent.data(), lent.size(), aligned_allocator());
  const Recorder recorder;
  const unsigned line = __LINE__ + 1;
  const Storage clone = storage.lazy_clone();
  expect_only(recorder, CopyCause::borrowed, 40, line);
}

TEST_F(CopyCauses, resized_is_a_resize_beyond_the_capacity_with_the_bytes_it_keeps) {
  Buffer buffer = of(100);
  const Recorder recorder;
  buffer.resize(60);
  const unsigned line = __LINE__ + 1;
  buffer.resize(300);
  expect_only(recorder, CopyCause::resized, 60, line);
}

TEST_F(CopyCauses, are_none_of_a_steal_a_read_a_clone_or_a_move) {
  Buffer buffer = of(100);
  const Recorder recorder;
  {
    const Buffer clone = buffer;
    (void)clone.data();
  }
  buffer.mutable_data();
  Buffer moved = std::move(buffer);
  moved.mutable_data();
  EXPECT_TRUE(recorder.events().empty());
}

}  // namespace
}  // namespace byre::test
