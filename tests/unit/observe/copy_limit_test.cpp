// SPDX-License-Identifier: BSL-1.0
/// The helper for users' own tests: a block that copies more than expected fails.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/expect.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"

namespace byre::test {
namespace {

using stats::CopyLimit;
using stats::expect_copies_at_most;

constexpr unsigned line_of_the_copy = __LINE__ + 4;
void copy_once() {
  const Buffer buffer = Buffer::allocate(100, aligned_allocator());
  Buffer clone = buffer;
  clone.mutable_data();
}

void copy(int times) {
  for (int i = 0; i < times; ++i) {
    copy_once();
  }
}

std::string place(unsigned line) {
  return std::string(__FILE__) + ":" + std::to_string(line) + ":";
}

class CopyLimits : public WithStats {};

#if !BYRE_STATS
TEST(CopyLimitsWithoutStats, are_refused_since_they_could_not_fail) {
  EXPECT_THROW(CopyLimit(0), InvalidArgument);
  EXPECT_THROW(expect_copies_at_most(0, [] {}), InvalidArgument);
}
#endif

TEST_F(CopyLimits, return_what_the_block_returns) {
  EXPECT_EQ(expect_copies_at_most(0, [] { return 42; }), 42);
  int value = 1;
  static_assert(
      std::is_same_v<decltype(expect_copies_at_most(0, [&]() -> int& { return value; })), int&>);
  EXPECT_EQ(&expect_copies_at_most(0, [&]() -> int& { return value; }), &value);
  EXPECT_EQ(*expect_copies_at_most(0, [] { return std::make_unique<int>(7); }), 7);
  static_assert(std::is_void_v<decltype(expect_copies_at_most(0, [&] { value = 2; }))>);
  expect_copies_at_most(0, [&] { value = 2; });
  EXPECT_EQ(value, 2);
}

TEST_F(CopyLimits, name_a_file_whose_name_is_gone) {
  EXPECT_TRUE(says(complaint_of<TooManyCopies>([] {
                     expect_copies_at_most(0, [] {
                       std::string file = "first.py";
                       const Buffer buffer = Buffer::allocate(8);
                       Buffer clone = buffer;
                       clone.mutable_data(Wait::allowed, {file.c_str(), 7});
                       file = "other.py";
                     });
                   }),
                   "first.py:7: 8 bytes"));
}

TEST_F(CopyLimits, let_a_block_copy_as_often_as_expected_and_not_more) {
  EXPECT_EQ(expect_copies_at_most(1, [] { return copy_once(), 5; }), 5);
  EXPECT_THROW((void)expect_copies_at_most(1, [] { return copy(2), 5; }), TooManyCopies);
  EXPECT_THROW(expect_copies_at_most(0, [] { throw std::runtime_error("its own"); }),
               std::runtime_error);
  const auto nested = [] {
    copy_once();
    expect_copies_at_most(2, [] { copy(2); });
  };
  EXPECT_NO_THROW(expect_copies_at_most(3, nested));
  EXPECT_THROW(expect_copies_at_most(2, nested), TooManyCopies);
}

TEST_F(CopyLimits, throw_naming_the_call_and_the_place_and_size_of_the_copy) {
  for (const int copies : {1, 4, 5, 9}) {
    unsigned line = 0;
    const std::string text = complaint_of<TooManyCopies>([&] {
      line = __LINE__ + 1;
      expect_copies_at_most(0, [&] { copy(copies); });
    });
    std::string expected = place(line) + " at most 0 copies were expected and " +
                           std::to_string(copies) + " were made:";
    for (int listed = 0; listed < std::min(copies, 4); ++listed) {
      expected += "\n  " + place(line_of_the_copy) + " 100 bytes (shared)";
    }
    expected += copies > 4 ? "\n  ..." : "";
    EXPECT_EQ(text,
              expected +
                  "\nRead through data() instead of mutable_data(), or drop the clones before "
                  "writing.");
  }
}

TEST_F(CopyLimits, count_the_copies_of_other_threads) {
  EXPECT_THROW(expect_copies_at_most(7, [] { at_once(8, [](std::size_t) { copy_once(); }); }),
               TooManyCopies);
  EXPECT_NO_THROW(expect_copies_at_most(8, [] { at_once(8, [](std::size_t) { copy_once(); }); }));
}

TEST_F(CopyLimits, count_only_what_is_copied_while_they_live) {
  copy_once();
  const CopyLimit limit(1);
  EXPECT_EQ(limit.copies(), 0U);
  copy_once();
  EXPECT_EQ(limit.copies(), 1U);
  EXPECT_NO_THROW(limit.expect_kept());
  copy_once();
  EXPECT_EQ(limit.copies(), 2U);
  EXPECT_THROW(limit.expect_kept(), TooManyCopies);
}

}  // namespace
}  // namespace byre::test
