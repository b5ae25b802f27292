// SPDX-License-Identifier: BSL-1.0
// The operations of the share word, one at a time.
#include <byre/cow/share_word.hpp>
#include <byre/observe/counters.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

class Protocol : public testing::Test {
 protected:
  ShareWord word;
};

TEST_F(Protocol, new_data_has_one_owner_that_may_write_at_once) {
  EXPECT_TRUE(word.is_writable());
  EXPECT_TRUE(word.is_unique());
  EXPECT_EQ(word.use_count(), 1U);
}

TEST_F(Protocol, a_clone_makes_another_owner_until_it_is_dropped) {
  word.add_owner();
  EXPECT_FALSE(word.is_unique());
  EXPECT_FALSE(word.is_writable());
  EXPECT_EQ(word.use_count(), 2U);

  EXPECT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.is_unique());
  EXPECT_EQ(word.use_count(), 1U);
}

TEST_F(Protocol, the_last_drop_says_so) {
  word.add_owner();
  word.add_owner();
  EXPECT_FALSE(word.drop_owner());
  EXPECT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.drop_owner());
}

TEST_F(Protocol, the_owner_left_over_may_write_at_once_and_its_claim_steals) {
  word.add_owner();
  EXPECT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.is_writable());
  EXPECT_EQ(word.claim(), Claim::steal);
  EXPECT_TRUE(word.is_writable());
  EXPECT_TRUE(word.drop_owner());
}

TEST_F(Protocol, read_only_data_is_never_writable_though_it_may_be_unique) {
  ShareWord read_only(true);
  EXPECT_FALSE(read_only.is_writable());
  EXPECT_TRUE(read_only.is_unique());
  EXPECT_EQ(read_only.use_count(), 1U);
  EXPECT_TRUE(read_only.drop_owner());
}

TEST_F(Protocol, of_three_owners_that_claim_in_turn_two_copy_and_the_last_steals) {
  word.add_owner();
  word.add_owner();
  EXPECT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.finish_copy());
  EXPECT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.finish_copy());
  EXPECT_EQ(word.claim(), Claim::steal);
  EXPECT_TRUE(word.drop_owner());
}

TEST_F(Protocol, a_copier_is_no_owner_but_keeps_the_data_from_being_unique) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  EXPECT_EQ(word.use_count(), 1U);
  EXPECT_FALSE(word.is_unique());
  EXPECT_FALSE(word.finish_copy());
  EXPECT_TRUE(word.is_unique());
}

TEST_F(Protocol, a_copier_that_outlives_the_owners_is_told_to_free) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.drop_owner());  // and does not wait for the copy
  EXPECT_TRUE(word.finish_copy());
}

TEST_F(Protocol, of_two_copiers_the_later_to_finish_is_told_to_free) {
  word.add_owner();
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  ASSERT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.drop_owner());
  EXPECT_FALSE(word.finish_copy());
  EXPECT_TRUE(word.finish_copy());
}

TEST_F(Protocol, a_copier_that_fails_owns_again) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  word.abandon_copy();
  EXPECT_EQ(word.use_count(), 2U);
  EXPECT_FALSE(word.drop_owner());
  EXPECT_EQ(word.claim(), Claim::steal);
}

TEST_F(Protocol, a_copier_that_fails_when_all_owners_left_owns_alone) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  ASSERT_FALSE(word.drop_owner());
  word.abandon_copy();
  EXPECT_TRUE(word.is_unique());
  EXPECT_EQ(word.claim(), Claim::steal);
  EXPECT_TRUE(word.drop_owner());
}

TEST_F(Protocol, a_last_owner_that_may_not_wait_copies) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  EXPECT_EQ(word.claim(Wait::never), Claim::copy);
  EXPECT_EQ(word.use_count(), 0U);
  EXPECT_FALSE(word.finish_copy());
  EXPECT_TRUE(word.finish_copy());
}

TEST_F(Protocol, a_last_owner_that_may_not_wait_steals_where_nothing_is_pending) {
  word.add_owner();
  ASSERT_FALSE(word.drop_owner());
  EXPECT_EQ(word.claim(Wait::never), Claim::steal);
}

TEST_F(Protocol, clones_of_shared_data_may_be_made_while_copies_are_pending) {
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  word.add_owner();
  EXPECT_EQ(word.use_count(), 2U);
  EXPECT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.finish_copy());
  EXPECT_FALSE(word.finish_copy());
  EXPECT_EQ(word.claim(), Claim::steal);
}

// A build without counters cannot tell that the waiter has parked: there the tests see only that it ends well.

class WaitingOwner : public testing::Test {
 protected:
  /// Makes as many copiers, and a thread whose claim waits for them.
  void wait_for_copiers(int copiers) {
    for (int i = 0; i < copiers; ++i) {
      word.add_owner();
    }
    for (int i = 0; i < copiers; ++i) {
      ASSERT_EQ(word.claim(), Claim::copy);
    }
    [[maybe_unused]] const auto waits = stats::snapshot().waits;
    waiter = boost::thread([this] { answer = word.claim(); });
#if BYRE_STATS
    await([&] { return stats::snapshot().waits > waits; });
#endif
  }

  ShareWord word;
  boost::thread waiter;
  Claim answer{};
};

TEST_F(WaitingOwner, steals_when_the_copy_ends) {
  wait_for_copiers(1);
  EXPECT_FALSE(word.finish_copy());
  waiter.join();
  EXPECT_EQ(answer, Claim::steal);
  EXPECT_TRUE(word.is_writable());  // `waiting` is gone
}

TEST_F(WaitingOwner, steals_when_the_last_of_two_copies_ends) {
  wait_for_copiers(2);
  EXPECT_FALSE(word.finish_copy());
  EXPECT_FALSE(word.finish_copy());
  waiter.join();
  EXPECT_EQ(answer, Claim::steal);
}

TEST_F(WaitingOwner, copies_after_all_when_the_copier_fails) {
  wait_for_copiers(1);
  word.abandon_copy();
  waiter.join();
  EXPECT_EQ(answer, Claim::copy);
  EXPECT_EQ(word.use_count(), 1U);  // the copier that failed
  EXPECT_FALSE(word.drop_owner());  // leaves the one that waited, which copies
  EXPECT_TRUE(word.finish_copy());  // and is told to free: `waiting` is gone
}

TEST_F(WaitingOwner, that_stole_leaves_a_word_whose_later_copiers_free) {
  wait_for_copiers(1);
  EXPECT_FALSE(word.finish_copy());
  waiter.join();
  word.add_owner();
  EXPECT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.finish_copy());
}

TEST_F(WaitingOwner, is_not_interrupted) {
  wait_for_copiers(1);
  waiter.interrupt();
  EXPECT_FALSE(word.finish_copy());
  waiter.join();
  EXPECT_EQ(answer, Claim::steal);
}

TEST(ShareWord, has_a_sole_copier_if_no_owner_and_no_other_copy_is_left) {
  ShareWord word;
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.is_sole_copier());
  ASSERT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.is_sole_copier());
  word.add_copy();
  EXPECT_FALSE(word.is_sole_copier());
  EXPECT_FALSE(word.finish_copy());
  EXPECT_TRUE(word.is_sole_copier());
  EXPECT_TRUE(word.finish_copy());
}

// A Sync whose additions find counts that are at their limit.
struct CrowdedBoost : sync::Boost {
  template <class Value>
  struct Atomic : sync::Boost::Atomic<Value> {
    using sync::Boost::Atomic<Value>::Atomic;
    Value fetch_add(Value value, sync::Step step) noexcept {
      const Value others = sync::max_count - Value{value == 1};  // one owner is in the word
      return sync::Boost::Atomic<Value>::fetch_add(value, step) + others * value;
    }
  };
};

TEST(ShareWordDeathTest, more_clones_than_can_be_counted_end_the_program) {
  basic_share_word<CrowdedBoost> word;
  EXPECT_DEATH(word.add_owner(), "share_word.hpp:.*more than 2\\^30 lazy clones");
}

TEST(ShareWordDeathTest, more_added_copies_than_can_be_counted_end_the_program) {
  basic_share_word<CrowdedBoost> word;
  EXPECT_DEATH(word.add_copy(), "added to none");
}

// A Sync whose loads read as if sync::max_count copies were under way.
struct CopyingBoost : sync::Boost {
  template <class Value>
  struct Atomic : sync::Boost::Atomic<Value> {
    using sync::Boost::Atomic<Value>::Atomic;
    Value load(sync::Step step) const noexcept {
      constexpr auto copies = static_cast<Value>(std::uint64_t{sync::max_count} << 32);
      return sync::Boost::Atomic<Value>::load(step) + copies;
    }
    bool compare_exchange_weak(Value&, Value, sync::Step) noexcept { return true; }
  };
};

TEST(ShareWordDeathTest, more_copies_than_can_be_counted_end_the_program) {
  basic_share_word<CopyingBoost> word;
  word.add_owner();
  EXPECT_DEATH((void)word.claim(), "share_word.hpp:.*more than 2\\^30 copies under way");
}

TEST(ShareWordDeathTest, a_release_too_many_ends_the_program) {
  ShareWord word;
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  ASSERT_FALSE(word.drop_owner());
  EXPECT_DEATH((void)word.drop_owner(), "released more often than it was cloned");
}

TEST(ShareWordDeathTest, a_write_after_the_last_release_ends_the_program) {
  ShareWord word;
  word.add_owner();
  ASSERT_FALSE(word.drop_owner());
  ASSERT_EQ(word.claim(Wait::never), Claim::steal);
  word.add_owner();
  ASSERT_EQ(word.claim(), Claim::copy);
  ASSERT_FALSE(word.drop_owner());
  ASSERT_TRUE(word.finish_copy());
  EXPECT_DEATH(word.claim(), "written after its release");
  EXPECT_DEATH(word.claim(Wait::never), "written after its release");
  EXPECT_DEATH(word.claim_in_order(), "written after its release");
}

TEST(ShareWordDeathTest, a_copy_that_was_never_claimed_cannot_end) {
  ShareWord word;
  EXPECT_DEATH((void)word.finish_copy(), "finished that was never claimed");
  EXPECT_DEATH(word.abandon_copy(), "abandoned that was never claimed");
  EXPECT_DEATH(word.add_copy(), "added to none");
}

}  // namespace
}  // namespace byre::test
