// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/explain.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.ends_with(end);
}

TEST(Explain, says_what_a_write_would_do_and_why) {
  FailingAllocator allocator;
  Storage storage = Storage::allocate(64, allocator);
  EXPECT_PRED2(ends_with, explain(storage),
               ", allocated by the test allocator, shared by 1 owner: a write goes to them "
               "directly.");
  {
    const Storage clone = storage.lazy_clone();
    EXPECT_PRED2(ends_with, explain(storage), ", shared by 2 owners: a write copies them.");
  }
  EXPECT_PRED2(ends_with, explain(storage), ": a write goes to them directly.");
  EXPECT_TRUE(explain(storage).starts_with("64 bytes at 0x")) << explain(storage);
}

TEST(Explain, knows_read_only_memory_and_none) {
  const char memory[] = "cow";
  const Buffer borrowed = Buffer::borrow(static_cast<const void*>(memory), 3);
  EXPECT_TRUE(says(explain(borrowed), "borrowed, with copies from the recycling pool"));
  EXPECT_PRED2(ends_with, explain(borrowed),
               ": a write copies them, since they may not be written in place.");
  const Buffer aliased = Buffer::adopt_aliased(static_cast<const void*>(memory), 3, [](void*) {});
  EXPECT_TRUE(says(explain(aliased), "aliased, with copies from the recycling pool"));
  EXPECT_EQ(explain(Buffer()), "no bytes: there is nothing to write");
  EXPECT_EQ(explain(Storage()), "no bytes: there is nothing to write");
}

TEST(Explain, knows_that_a_copy_is_pending) {
  FailingAllocator allocator;
  Buffer first = Buffer::allocate(8, allocator);
  const Buffer second = first;
  std::string during;
  allocator.during_copy([&] { during = explain(second); });
  first.mutable_data();
  EXPECT_PRED2(ends_with, during,
               "shared by 1 owner: a write waits until others finish copying them, and then goes "
               "to them directly.");
}

}  // namespace
}  // namespace byre::test
