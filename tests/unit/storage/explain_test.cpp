// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/atomic_buffer.hpp>
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

TEST(Explain, states_the_effect_of_a_write_and_the_reason) {
  FailingAllocator allocator;
  Storage storage = Storage::allocate(64, allocator);
  EXPECT_PRED2(ends_with, explain(storage),
               ", allocated by the test allocator, shared by 1 owner: a write modifies them in "
               "place.");
  {
    const Storage clone = storage.lazy_clone();
    EXPECT_PRED2(ends_with, explain(storage), ", shared by 2 owners: a write copies them.");
  }
  EXPECT_PRED2(ends_with, explain(storage), ": a write modifies them in place.");
  EXPECT_TRUE(explain(storage).starts_with("64 bytes at 0x")) << explain(storage);
}

TEST(Explain, describes_read_only_memory_and_empty_handles) {
  const char memory[] = "cow";
  const Buffer borrowed = Buffer::borrow(static_cast<const void*>(memory), 3);
  EXPECT_TRUE(says(explain(borrowed), "borrowed, with copies from the recycling pool"));
  EXPECT_PRED2(ends_with, explain(borrowed), ": a write copies them, because they are read-only.");
  const Buffer aliased = Buffer::adopt_aliased(static_cast<const void*>(memory), 3, [](void*) {});
  EXPECT_TRUE(says(explain(aliased), "aliased, with copies from the recycling pool"));
  EXPECT_EQ(explain(Buffer()), "no bytes: nothing to write");
  EXPECT_EQ(explain(Storage()), "no bytes: nothing to write");
}

TEST(Explain, names_the_owners_that_an_atomic_buffer_adds) {
  FailingAllocator allocator;
  const Buffer buffer = Buffer::allocate(8, allocator);
  const AtomicBuffer place(buffer);
  EXPECT_PRED2(ends_with, explain(buffer),
               "shared by 32769 owners (an AtomicBuffer that contains them counts as 32768): a "
               "write copies them.");
}

TEST(Explain, states_that_a_write_waits_for_a_pending_copy) {
  FailingAllocator allocator;
  Buffer first = Buffer::allocate(8, allocator);
  const Buffer second = first;
  std::string during;
  allocator.during_copy([&] { during = explain(second); });
  first.mutable_data();
  EXPECT_PRED2(ends_with, during,
               "shared by 1 owner: a write waits for copies of them to end, then modifies them in "
               "place.");
}

}  // namespace
}  // namespace byre::test
