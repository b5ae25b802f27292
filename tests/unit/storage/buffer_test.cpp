// SPDX-License-Identifier: BSL-1.0
// Promises about buffers by name. stress/programs compares all else with a model: storage/random_programs_test.cpp.
#include <byre/memory/host_allocators.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

static_assert(std::is_nothrow_copy_constructible_v<Buffer>);
static_assert(std::is_nothrow_copy_assignable_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_assignable_v<Buffer>);
static_assert(std::is_nothrow_default_constructible_v<Buffer>);
static_assert(BYRE_CHECKS || sizeof(Buffer) <= 2 * sizeof(void*));

TEST(Buffer, copying_it_shares_the_data_until_one_side_writes) {
  Buffer original = of_text<Buffer>("cow");
  Buffer clone = original;
  EXPECT_TRUE(clone.shares_data_with(original));
  EXPECT_EQ(clone.data(), original.data());
  EXPECT_EQ(original.use_count(), 2U);
  EXPECT_FALSE(original.is_unique());

  clone.mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(text_of(original), "cow");
  EXPECT_EQ(text_of(clone), "now");
  EXPECT_FALSE(clone.shares_data_with(original));
  EXPECT_TRUE(original.is_unique());
}

TEST(Buffer, reading_never_copies) {
  FailingAllocator allocator;
  const Buffer original = of_text<Buffer>("cow", allocator);
  const Buffer clone = original;
  EXPECT_EQ(text_of(clone), text_of(original));
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_EQ(allocator.allocations(), 1);
}

TEST(Buffer, the_owner_left_behind_by_a_dropped_clone_keeps_the_data) {
  Buffer original = of_text<Buffer>("cow");
  const std::byte* data = original.data();
  { const Buffer clone = original; }
  EXPECT_EQ(original.materialize(), Materialized::already_unique);
  EXPECT_EQ(original.data(), data);
}

TEST(Buffer, a_copy_keeps_the_size_and_the_allocator) {
  FailingAllocator allocator;
  const Buffer original = of_text<Buffer>("cow", allocator);
  Buffer clone = original;
  clone.mutable_data();
  EXPECT_EQ(clone.nbytes(), original.nbytes());
  EXPECT_EQ(&clone.allocator(), &allocator);
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(Buffer, moving_takes_the_bytes_and_leaves_none) {
  Buffer source = of_text<Buffer>("cow");
  const std::byte* data = source.data();
  Buffer target = std::move(source);
  EXPECT_EQ(target.data(), data);
  EXPECT_EQ(source.nbytes(), 0U);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(source.data(), nullptr);

  source = target;
  EXPECT_TRUE(source.shares_data_with(target));
  source = std::move(target);
  EXPECT_EQ(source.use_count(), 1U);
}

TEST(Buffer, resizing_within_the_capacity_stays_in_place) {
  Buffer buffer = Buffer::allocate(100'000);
  const std::byte* data = buffer.data();
  ASSERT_GT(buffer.capacity(), buffer.nbytes());
  buffer.resize(buffer.capacity());
  EXPECT_EQ(buffer.data(), data);
  buffer.resize(1);
  EXPECT_EQ(buffer.data(), data);
}

TEST(Buffer, resizing_shared_data_is_refused_and_changes_nothing) {
  Buffer buffer = of_text<Buffer>("cow" + std::string(1000, ' '));
  buffer.resize(3);
  const Buffer clone = buffer;
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { buffer.resize(10); }), "resize to 10 bytes",
                   "materialize()"));
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { buffer.shrink_to_fit(); }),
                   "shrink_to_fit to 3 bytes", "materialize()"));
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_TRUE(buffer.shares_data_with(clone));
}

TEST(Buffer, of_a_size_that_overflows_is_refused_by_name) {
  for (const std::size_t nbytes : {std::numeric_limits<std::size_t>::max(),
                                   std::numeric_limits<std::size_t>::max() - 127, max_nbytes + 1}) {
    EXPECT_THROW(Buffer::allocate(nbytes), InvalidArgument) << nbytes;
    Buffer buffer = of_text<Buffer>("cow");
    EXPECT_THROW(buffer.resize(nbytes), InvalidArgument) << nbytes;
    EXPECT_EQ(text_of(buffer), "cow");
  }
}

TEST(Buffer, of_a_size_no_machine_has_is_out_of_memory) {
  const auto take_two = [](Allocator& allocator) {  // of 32 bits one may be there
    const Buffer one = Buffer::allocate(max_nbytes, allocator);
    const Buffer another = Buffer::allocate(max_nbytes, allocator);
  };
  EXPECT_THROW(take_two(default_allocator()), OutOfMemory);
  EXPECT_THROW(take_two(aligned_allocator()), OutOfMemory);
}

}  // namespace
}  // namespace byre::test
