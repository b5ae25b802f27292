// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
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

Buffer of_text(const char* text, Allocator& allocator = default_allocator()) {
  Buffer buffer = Buffer::allocate(std::strlen(text), allocator);
  std::memcpy(buffer.mutable_data(), text, buffer.nbytes());
  return buffer;
}

TEST(Buffer, without_bytes_answers_every_question) {
  Buffer buffer;
  EXPECT_EQ(buffer.nbytes(), 0U);
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.mutable_data(), nullptr);
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  EXPECT_TRUE(buffer.is_unique());
  EXPECT_EQ(buffer.use_count(), 0U);
  EXPECT_EQ(&buffer.allocator(), &default_allocator());

  const Buffer clone = buffer;
  EXPECT_FALSE(clone.shares_data_with(buffer));
  buffer.resize(3);
  EXPECT_EQ(buffer.nbytes(), 3U);
}

TEST(Buffer, of_zero_bytes_is_a_buffer_like_any_other) {
  Buffer buffer = Buffer::allocate(0);
  EXPECT_EQ(buffer.nbytes(), 0U);
  EXPECT_EQ(buffer.use_count(), 1U);
  Buffer clone = buffer;
  EXPECT_TRUE(clone.shares_data_with(buffer));
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
}

TEST(Buffer, is_aligned_whatever_its_size) {
  for (const std::size_t nbytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64},
                                   std::size_t{4097}, std::size_t{65536}, std::size_t{3} << 20}) {
    const Buffer buffer = Buffer::allocate(nbytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % data_alignment, 0U) << nbytes;
    EXPECT_EQ(buffer.nbytes(), nbytes);
    EXPECT_GE(buffer.capacity(), nbytes);
  }
}

TEST(Buffer, copying_it_shares_the_data_until_one_side_writes) {
  Buffer original = of_text("cow");
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
  const Buffer original = of_text("cow", allocator);
  const Buffer clone = original;
  EXPECT_EQ(text_of(clone), text_of(original));
  EXPECT_EQ(allocator.copies(), 0);
  EXPECT_EQ(allocator.allocations(), 1);
}

TEST(Buffer, the_first_writer_copies_and_the_last_owner_keeps_the_data) {
  FailingAllocator allocator;
  Buffer first = of_text("cow", allocator);
  Buffer second = first;
  const std::byte* shared = first.data();

  EXPECT_EQ(first.materialize(), Materialized::copied);
  EXPECT_NE(first.data(), shared);
  EXPECT_EQ(second.materialize(), Materialized::already_unique);
  EXPECT_EQ(second.data(), shared);
  EXPECT_EQ(first.materialize(), Materialized::already_unique);
  EXPECT_EQ(allocator.copies(), 1);
}

TEST(Buffer, the_owner_left_behind_by_a_dropped_clone_keeps_the_data) {
  Buffer original = of_text("cow");
  const std::byte* data = original.data();
  { const Buffer clone = original; }
  EXPECT_EQ(original.materialize(), Materialized::already_unique);
  EXPECT_EQ(original.data(), data);
}

TEST(Buffer, a_copy_keeps_the_size_and_the_allocator) {
  FailingAllocator allocator;
  const Buffer original = of_text("cow", allocator);
  Buffer clone = original;
  clone.mutable_data();
  EXPECT_EQ(clone.nbytes(), original.nbytes());
  EXPECT_EQ(&clone.allocator(), &allocator);
  EXPECT_EQ(clone.origin(), Origin::allocated);
}

TEST(Buffer, moving_takes_the_bytes_and_leaves_none) {
  Buffer source = of_text("cow");
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

TEST(Buffer, assigning_it_to_itself_changes_nothing) {
  Buffer buffer = of_text("cow");
  const Buffer& same = buffer;
  buffer = same;
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_EQ(buffer.use_count(), 1U);
}

TEST(Buffer, swapping_exchanges_the_bytes) {
  Buffer left = of_text("left");
  Buffer right = of_text("right");
  swap(left, right);
  EXPECT_EQ(text_of(left), "right");
  EXPECT_EQ(text_of(right), "left");
  left.swap(left);
  EXPECT_EQ(text_of(left), "right");
}

TEST(Buffer, a_thousand_clones_of_clones_share_one_allocation) {
  FailingAllocator allocator;
  std::vector<Buffer> chain{of_text("cow", allocator)};
  for (int i = 0; i < 1000; ++i) {
    chain.push_back(chain.back());
  }
  EXPECT_EQ(allocator.blocks_out(), 1U);
  EXPECT_EQ(chain.front().use_count(), 1001U);
  chain[500].mutable_data()[0] = std::byte{'n'};
  EXPECT_EQ(allocator.blocks_out(), 2U);
  EXPECT_EQ(text_of(chain[499]), "cow");
  EXPECT_EQ(text_of(chain[501]), "cow");
  chain.clear();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TEST(Buffer, resizing_keeps_what_fits) {
  Buffer buffer = of_text("lazy cow");
  buffer.resize(4);
  EXPECT_EQ(text_of(buffer), "lazy");
  buffer.resize(100'000);
  EXPECT_EQ(buffer.nbytes(), 100'000U);
  EXPECT_EQ(std::memcmp(buffer.data(), "lazy", 4), 0);
  buffer.mutable_data()[99'999] = std::byte{1};
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

TEST(Buffer, released_after_it_shrank_is_counted_with_its_capacity) {
  const auto before = stats::snapshot().live_bytes;
  {
    Buffer buffer = Buffer::allocate(10000);
    buffer.resize(10);
  }
  EXPECT_EQ(stats::snapshot().live_bytes, before);
}

TEST(Buffer, resizing_shared_data_is_refused_and_changes_nothing) {
  Buffer buffer = of_text("cow");
  const Buffer clone = buffer;
  EXPECT_TRUE(says(complaint_of<NotUnique>([&] { buffer.resize(10); }), "resize to 10 bytes",
                   "materialize()"));
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_TRUE(buffer.shares_data_with(clone));
}

TEST(Buffer, of_a_size_that_overflows_is_refused_by_name) {
  for (const std::size_t nbytes : {std::numeric_limits<std::size_t>::max(),
                                   std::numeric_limits<std::size_t>::max() - 127, max_nbytes + 1}) {
    EXPECT_THROW(Buffer::allocate(nbytes), InvalidArgument) << nbytes;
    Buffer buffer = of_text("cow");
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

TEST(Buffer, who_may_not_wait_copies_while_a_copy_is_pending) {
  FailingAllocator allocator;
  Halt copy;
  Buffer slow = of_text("cow", allocator);
  Buffer hasty = slow;
  allocator.halt_copy(copy);
  boost::thread copier([&] { slow.mutable_data()[0] = std::byte{'n'}; });
  copy.await_entry();
  EXPECT_EQ(hasty.materialize(Wait::never), Materialized::copied);  // the other is still copying
  EXPECT_EQ(text_of(hasty), "cow");
  copy.let_go();
  copier.join();
  EXPECT_EQ(text_of(slow), "now");
  EXPECT_EQ(allocator.blocks_out(), 2U);
}

TEST(Buffer, the_last_drop_does_not_wait_for_a_pending_copy) {
  FailingAllocator allocator;
  Halt copy;
  Buffer slow = of_text("cow", allocator);
  std::optional<Buffer> dropped = slow;
  allocator.halt_copy(copy);
  boost::thread copier([&] { slow.mutable_data()[0] = std::byte{'n'}; });
  copy.await_entry();
  dropped.reset();  // while the copier stands still: a drop that waits would hang
  copy.let_go();
  copier.join();
  EXPECT_EQ(text_of(slow), "now");
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

}  // namespace
}  // namespace byre::test
