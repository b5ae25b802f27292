// SPDX-License-Identifier: BSL-1.0
// The six operations, one at a time, on both forms of the protocol.
#include <byre/cow/detail/share_lock.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/stats/counters.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

template <class Form>
class Protocol : public testing::Test {
 protected:
  Form form;
};

using Forms = testing::Types<ShareWord, ShareLock>;

struct NamesOfForms {
  template <class Form>
  static std::string GetName(int) {
    return std::is_same_v<Form, ShareWord> ? "word" : "lock";
  }
};

TYPED_TEST_SUITE(Protocol, Forms, NamesOfForms);

TYPED_TEST(Protocol, new_data_has_one_owner_that_may_write_at_once) {
  EXPECT_TRUE(this->form.is_writable());
  EXPECT_TRUE(this->form.is_unique());
  EXPECT_EQ(this->form.use_count(), 1U);
}

TYPED_TEST(Protocol, a_clone_makes_another_owner_until_it_is_dropped) {
  this->form.add_owner();
  EXPECT_FALSE(this->form.is_unique());
  EXPECT_FALSE(this->form.is_writable());
  EXPECT_EQ(this->form.use_count(), 2U);

  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_TRUE(this->form.is_unique());
  EXPECT_EQ(this->form.use_count(), 1U);
}

TYPED_TEST(Protocol, the_last_drop_says_so) {
  this->form.add_owner();
  this->form.add_owner();
  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_TRUE(this->form.drop_owner());
}

TYPED_TEST(Protocol, the_owner_left_over_may_write_at_once_and_its_claim_steals) {
  this->form.add_owner();
  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_TRUE(this->form.is_writable());
  EXPECT_EQ(this->form.claim(), Claim::steal);
  EXPECT_TRUE(this->form.is_writable());
  EXPECT_TRUE(this->form.drop_owner());
}

TYPED_TEST(Protocol, read_only_data_is_never_writable_though_it_may_be_unique) {
  TypeParam read_only(true);
  EXPECT_FALSE(read_only.is_writable());
  EXPECT_TRUE(read_only.is_unique());
  EXPECT_EQ(read_only.use_count(), 1U);
  EXPECT_TRUE(read_only.drop_owner());
}

TYPED_TEST(Protocol, of_three_owners_that_claim_in_turn_two_copy_and_the_last_steals) {
  this->form.add_owner();
  this->form.add_owner();
  EXPECT_EQ(this->form.claim(), Claim::copy);
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_EQ(this->form.claim(), Claim::copy);
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_EQ(this->form.claim(), Claim::steal);
  EXPECT_TRUE(this->form.drop_owner());
}

TYPED_TEST(Protocol, a_copier_is_no_owner_but_keeps_the_data_from_being_unique) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  EXPECT_EQ(this->form.use_count(), 1U);
  EXPECT_FALSE(this->form.is_unique());
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_TRUE(this->form.is_unique());
}

TYPED_TEST(Protocol, a_copier_that_outlives_the_owners_is_told_to_free) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  EXPECT_FALSE(this->form.drop_owner());  // and does not wait for the copy
  EXPECT_TRUE(this->form.finish_copy());
}

TYPED_TEST(Protocol, of_two_copiers_the_later_to_finish_is_told_to_free) {
  this->form.add_owner();
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  ASSERT_EQ(this->form.claim(), Claim::copy);
  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_TRUE(this->form.finish_copy());
}

TYPED_TEST(Protocol, a_copier_that_fails_owns_again) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  this->form.abandon_copy();
  EXPECT_EQ(this->form.use_count(), 2U);
  EXPECT_FALSE(this->form.drop_owner());
  EXPECT_EQ(this->form.claim(), Claim::steal);
}

TYPED_TEST(Protocol, a_copier_that_fails_when_all_owners_left_owns_alone) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  ASSERT_FALSE(this->form.drop_owner());
  this->form.abandon_copy();
  EXPECT_TRUE(this->form.is_unique());
  EXPECT_EQ(this->form.claim(), Claim::steal);
  EXPECT_TRUE(this->form.drop_owner());
}

TYPED_TEST(Protocol, a_last_owner_that_may_not_wait_copies) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  EXPECT_EQ(this->form.claim(Wait::never), Claim::copy);
  EXPECT_EQ(this->form.use_count(), 0U);
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_TRUE(this->form.finish_copy());
}

TYPED_TEST(Protocol, a_last_owner_that_may_not_wait_steals_where_nothing_is_pending) {
  this->form.add_owner();
  ASSERT_FALSE(this->form.drop_owner());
  EXPECT_EQ(this->form.claim(Wait::never), Claim::steal);
}

TYPED_TEST(Protocol, clones_of_shared_data_may_be_made_while_copies_are_pending) {
  this->form.add_owner();
  ASSERT_EQ(this->form.claim(), Claim::copy);
  this->form.add_owner();
  EXPECT_EQ(this->form.use_count(), 2U);
  EXPECT_EQ(this->form.claim(), Claim::copy);
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_FALSE(this->form.finish_copy());
  EXPECT_EQ(this->form.claim(), Claim::steal);
}

// The word alone counts its waits; the lock waits inside Boost. Without counters these tests cannot
// know that the waiter has parked, and only see that it ends well.

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
