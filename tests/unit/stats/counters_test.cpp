// SPDX-License-Identifier: BSL-1.0
/// What each counter means, operation by operation.
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <array>
#include <vector>

#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

using stats::Counters;

TEST(Counters, subtract_each_from_its_own) {
  const Counters after{11, 22, 33, 44, 55, 66, 77, 88};
  const Counters before{1, 3, 5, 7, 11, 13, 17, 100};
  const Counters difference{10, 19, 28, 37, 44, 53, 60, -12};
  EXPECT_EQ(text_of(after - before), text_of(difference));
  EXPECT_EQ(after - before, difference);
  EXPECT_NE(after, before);
}

TEST(Counters, are_zeros_where_stats_are_disabled) {
  if (BYRE_STATS) {
    GTEST_SKIP() << "built with stats";
  }
  Buffer buffer = Buffer::allocate(100);
  Buffer clone = buffer;
  clone.mutable_data();
  EXPECT_EQ(stats::snapshot(), Counters{});
}

class CountersTest : public WithStats {
 protected:
  /// Of memory that is not pooled, and whose capacity is what was asked for.
  static Buffer of(std::size_t nbytes) { return Buffer::allocate(nbytes, aligned_allocator()); }
};

TEST_F(CountersTest, memory_lives_from_allocation_to_the_last_owners_end) {
  const Counted counted;
  {
    const Buffer buffer = of(100);
    const Buffer clone = buffer;
    const Storage storage(clone);
    EXPECT_EQ(counted.since().live_bytes, 100);
  }
  EXPECT_EQ(counted.since().live_bytes, 0);
}

TEST_F(CountersTest, foreign_memory_is_not_live_until_it_is_copied) {
  const Counted counted;
  std::array<std::byte, 64> lent;
  const Buffer borrowed = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  Buffer adopted = Buffer::adopt(
      lent.data(), lent.size(), [](void*) {}, aligned_allocator());
  EXPECT_EQ(counted.text(), text_of({}));
  const Buffer clone = borrowed;
  EXPECT_EQ(counted.since().live_bytes, 64);
}

TEST_F(CountersTest, reading_and_writing_alone_count_nothing) {
  Buffer buffer = of(100);
  const Counted counted;
  (void)buffer.data();
  buffer.mutable_data();
  buffer.materialize();
  Buffer moved = std::move(buffer);
  moved.resize(50);
  moved.mutable_data();
  EXPECT_EQ(counted.text(), text_of({}));
}

TEST_F(CountersTest, a_lazy_clone_counts_the_bytes_it_did_not_copy) {
  const Buffer buffer = of(100);
  const Storage storage(buffer);
  Buffer shrunk = of(100);
  shrunk.resize(60);
  const Counted counted;
  const Buffer clone = buffer;
  const Buffer fewer = shrunk;
  const Buffer other = buffer.lazy_clone();
  const Storage third = storage.lazy_clone();
  const Storage alias = storage;  // not a clone
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 4, .bytes_not_copied = 360}));
}

TEST_F(CountersTest, a_copy_takes_its_bytes_from_those_not_copied) {
  Buffer buffer = of(100);
  const Counted counted;
  Buffer clone = buffer;
  const Buffer other = buffer;
  clone.mutable_data();
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 2,
                                     .copies = 1,
                                     .bytes_copied = 100,
                                     .bytes_not_copied = 100,
                                     .live_bytes = 100}));
}

TEST_F(CountersTest, a_write_after_the_clone_has_gone_is_no_copy_and_no_steal) {
  Buffer buffer = of(100);
  const Counted counted;
  { const Buffer clone = buffer; }
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  EXPECT_EQ(counted.text(), text_of({.lazy_clones = 1, .bytes_not_copied = 100}));
}

TEST_F(CountersTest, owners_that_all_write_count_one_copy_fewer) {
  std::vector<Buffer> owners(5, of(100));
  const Counted counted;
  for (Buffer& owner : owners) {
    owner.mutable_data();
  }
  EXPECT_EQ(
      counted.text(),
      text_of({.copies = 4, .bytes_copied = 400, .bytes_not_copied = -400, .live_bytes = 400}));
}

TEST_F(CountersTest, when_every_owner_has_written_nothing_was_saved) {
  Buffer buffer = of(100);
  const Counted counted;
  Buffer clone = buffer;
  clone.mutable_data();
  buffer.mutable_data();
  EXPECT_EQ(counted.since().bytes_not_copied, 0);
  EXPECT_EQ(counted.since().bytes_copied, 100);
}

TEST_F(CountersTest, a_copy_that_an_eager_clone_would_not_spare_saves_nothing) {
  std::array<std::byte, 64> lent{};
  const Buffer borrowed = Buffer::borrow(lent.data(), lent.size(), aligned_allocator());
  Buffer read_only =
      Buffer::borrow(static_cast<const std::byte*>(lent.data()), lent.size(), aligned_allocator());
  const Counters one_copy{.copies = 1, .bytes_copied = 64, .live_bytes = 64};
  const Counted by_the_clone;
  const Buffer clone = borrowed;
  EXPECT_EQ(by_the_clone.text(), text_of(one_copy));
  const Counted by_the_write;
  read_only.mutable_data();
  EXPECT_EQ(by_the_write.text(), text_of(one_copy));
}

TEST_F(CountersTest, if_both_owners_of_read_only_memory_write_nothing_is_saved) {
  // Eager: one copy to clone, one to write the original. Lazy: one for each write.
  const TemporaryFolder folder;
  write_file(folder / "file", "a file of 21 bytes...");
  Buffer mapped = Buffer::map_file(folder / "file", aligned_allocator());
  const Counted counted;
  Buffer clone = mapped;
  clone.mutable_data();
  mapped.mutable_data();
  EXPECT_EQ(counted.since().bytes_copied, 42);
  EXPECT_EQ(counted.since().bytes_not_copied, 0);
}

TEST_F(CountersTest, a_resize_copies_only_the_bytes_it_keeps) {
  Buffer buffer = of(100);
  const Counted counted;
  buffer.resize(1000);
  EXPECT_EQ(counted.text(), text_of({.copies = 1, .bytes_copied = 100, .live_bytes = 900}));
}

TEST_F(CountersTest, a_copy_that_fails_counts_nothing) {
  FailingAllocator allocator;
  Buffer buffer = Buffer::allocate(100, allocator);
  Buffer clone = buffer;
  const Counted counted;
  allocator.fail_copy(0);
  EXPECT_THROW(clone.mutable_data(), FailingAllocator::CopyFailed);
  allocator.fail_copy(0);
  EXPECT_THROW((void)clone.materialize(Wait::never), FailingAllocator::CopyFailed);
  EXPECT_EQ(counted.text(), text_of({}));
}

TEST_F(CountersTest, a_last_owner_counts_its_wait_or_the_copy_it_makes_instead) {
  for (const Wait wait : {Wait::allowed, Wait::never}) {
    const bool waits = wait == Wait::allowed;
    Halt first_copy;
    FailingAllocator allocator;
    allocator.halt_copy(first_copy);
    Buffer buffer = Buffer::allocate(100, allocator);
    Buffer clone = buffer;
    const Counted counted;
    boost::thread copier([&] { clone.mutable_data(); });
    first_copy.await_entry();
    EXPECT_EQ(counted.since().waits, 0);
    Materialized outcome{};
    boost::thread writer([&] { outcome = buffer.materialize(wait); });
    if (waits) {
      await([&] { return counted.since().waits != 0; });
    } else {
      writer.join();
    }
    first_copy.let_go();
    copier.join();
    if (writer.joinable()) {
      writer.join();
    }
    EXPECT_EQ(outcome, waits ? Materialized::stole : Materialized::copied);
    Counters since = counted.since();
    EXPECT_EQ(since.waits != 0, waits);
    since.waits = 0;
    const Counters stolen{
        .copies = 1, .steals = 1, .bytes_copied = 100, .bytes_not_copied = -100, .live_bytes = 100};
    const Counters copied{
        .copies = 2, .bytes_copied = 200, .bytes_not_copied = -200, .live_bytes = 100};
    EXPECT_EQ(text_of(since), text_of(waits ? stolen : copied));
  }
}

}  // namespace
}  // namespace byre::test
