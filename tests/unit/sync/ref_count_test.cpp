// SPDX-License-Identifier: BSL-1.0
/// The count of handles, and the check that detects a handle that is dropped twice.
#include <byre/sync/detail/ref_count.hpp>

#include <gtest/gtest.h>

namespace byre::test {
namespace {

using RefCount = basic_ref_count<sync::Default>;

TEST(RefCount, drop_returns_true_for_the_last_handle) {
  RefCount count;
  count.add();
  EXPECT_FALSE(count.drop());
  EXPECT_TRUE(count.drop());
  EXPECT_EQ(count.count(), 0U);
}

TEST(RefCount, ends_the_program_if_the_only_handle_is_dropped_twice) {
  RefCount count;
  EXPECT_TRUE(count.drop());
  EXPECT_DEATH(static_cast<void>(count.drop()), "released more often than it was copied");
}

}  // namespace
}  // namespace byre::test
