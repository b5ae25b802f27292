// SPDX-License-Identifier: BSL-1.0
// Tests of the operations of the share word: every sequence of eight operations in one thread,
// waits, limits of counts, and misuse.
#include <byre/cow/share_word.hpp>
#include <byre/observe/counters.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "support/at_once.hpp"

namespace byre::test {
namespace {

/// The expected numbers of owners and of copies under way.
struct Counts {
  unsigned owners = 1;
  unsigned copies = 0;
};

/// A share word and its expected counts.
struct Protocol {
  explicit Protocol(bool is_read_only) : read_only(is_read_only), word(is_read_only) {}

  bool is_gone() const { return counts.owners == 0 && counts.copies == 0; }
  void claims(Claim claimed, bool copies) {
    EXPECT_EQ(claimed, copies ? Claim::copy : Claim::steal);
    counts.owners -= copies ? 1U : 0U;
    counts.copies += copies ? 1U : 0U;
  }
  void expect_counts() const {
    EXPECT_EQ(word.use_count(), counts.owners);
    EXPECT_EQ(word.is_unique(), counts.owners == 1 && counts.copies == 0);
    EXPECT_EQ(word.is_writable(), !read_only && counts.owners == 1 && counts.copies == 0);
    EXPECT_EQ(word.is_sole_copier(), counts.owners == 0 && counts.copies == 1);
  }

  const bool read_only;
  ShareWord word;
  Counts counts;
};

/// An operation of the share word. `may` tells whether the operation may come next: a waiting claim
/// by the last owner would hang while a copy is pending.
struct Operation {
  const char* name;
  bool (*may)(const Protocol& at);
  void (*take)(Protocol& at);
};
constexpr auto by_an_owner = [](const Protocol& at) { return at.counts.owners != 0; };
constexpr auto by_a_writer = [](const Protocol& at) {
  return at.counts.owners != 0 && !at.read_only;
};
constexpr auto by_a_copier = [](const Protocol& at) { return at.counts.copies != 0; };
const Operation operations[] = {
    {"add_owner", by_an_owner, [](Protocol& at) { at.word.add_owner(), ++at.counts.owners; }},
    {"drop_owner", by_an_owner,
     [](Protocol& at) {
       const bool has_to_free = at.word.drop_owner();
       --at.counts.owners;
       EXPECT_EQ(has_to_free, at.is_gone());
     }},
    {"claim",
     [](const Protocol& at) {
       return by_a_writer(at) && (at.counts.owners > 1 || at.counts.copies == 0);
     },
     [](Protocol& at) { at.claims(at.word.claim(), at.counts.owners > 1); }},
    {"claim(Wait::never)", by_a_writer,
     [](Protocol& at) {
       at.claims(at.word.claim(Wait::never), at.counts.owners > 1 || at.counts.copies != 0);
     }},
    {"claim_in_order", by_a_writer,
     [](Protocol& at) { at.claims(at.word.claim_in_order(), at.counts.owners > 1); }},
    {"finish_copy", by_a_copier,
     [](Protocol& at) {
       const bool has_to_free = at.word.finish_copy();
       --at.counts.copies;
       EXPECT_EQ(has_to_free, at.is_gone());
     }},
    {"abandon_copy", by_a_copier,
     [](Protocol& at) { at.word.abandon_copy(), --at.counts.copies, ++at.counts.owners; }},
    {"add_copy", by_a_copier, [](Protocol& at) { at.word.add_copy(), ++at.counts.copies; }},
};

/// Applies the operations of `path` to a new word, then tries every longer path that starts with
/// `path`.
void take_all_paths(bool read_only, std::vector<const Operation*>& path) {
  constexpr std::size_t longest = 8;
  Protocol at(read_only);
  for (const Operation* const operation : path) {
    operation->take(at);
  }
  if (!at.is_gone()) {
    at.expect_counts();
  }
  if (testing::Test::HasFailure()) {
    for (const Operation* const operation : path) {
      ADD_FAILURE() << "after " << operation->name;
    }
    return;
  }
  for (const Operation& next : operations) {
    if (path.size() < longest && next.may(at) && !testing::Test::HasFailure()) {
      path.push_back(&next);
      take_all_paths(read_only, path);
      path.pop_back();
    }
  }
}

TEST(Protocol, counts_owners_and_copies_on_every_path_of_eight_operations) {
  for (const bool read_only : {false, true}) {
    std::vector<const Operation*> path;
    take_all_paths(read_only, path);
  }
}

// A build without counters cannot tell when the waiter has parked. In such a build these tests
// check only the outcome.

class WaitingOwner : public testing::Test {
 protected:
  /// Creates `copiers` copiers, and a thread whose claim waits for them.
  void wait_for_copiers(int copiers) {
    for (int i = 0; i < copiers; ++i) {
      word.add_owner();
    }
    for (int i = 0; i < copiers; ++i) {
      ASSERT_EQ(word.claim(), Claim::copy);
    }
    [[maybe_unused]] const auto waits = stats::snapshot().waits;
    waiter = std::thread([this] { answer = word.claim(); });
#if BYRE_STATS
    await([&] { return stats::snapshot().waits > waits; });
#endif
  }

  ShareWord word;
  std::thread waiter;
  Claim answer{};
};

TEST_F(WaitingOwner, steals_when_the_last_copy_ends) {
  for (const int copiers : {1, 2}) {
    wait_for_copiers(copiers);
    for (int copier = 0; copier < copiers; ++copier) {
      EXPECT_FALSE(word.finish_copy());
    }
    waiter.join();
    EXPECT_EQ(answer, Claim::steal);
    EXPECT_TRUE(word.is_writable());  // the bit `waiting` is cleared
  }
  // The wait leaves no bit set in the word: later, finish_copy() tells the last copier to free the
  // data.
  word.add_owner();
  EXPECT_EQ(word.claim(), Claim::copy);
  EXPECT_FALSE(word.drop_owner());
  EXPECT_TRUE(word.finish_copy());
}

TEST_F(WaitingOwner, copies_if_the_copier_it_waits_for_fails) {
  wait_for_copiers(1);
  word.abandon_copy();
  waiter.join();
  EXPECT_EQ(answer, Claim::copy);
  EXPECT_EQ(word.use_count(), 1U);  // the copier that failed owns again
  EXPECT_FALSE(word.drop_owner());  // the claimed copy is still under way
  EXPECT_TRUE(word.finish_copy());  // the copier must free: `waiting` is cleared
}

// A Sync (the template parameter that provides atomic operations) whose additions find counts at
// their limit.
struct CrowdedSync : sync::Default {
  template <class Value>
  struct Atomic : sync::Default::Atomic<Value> {
    using sync::Default::Atomic<Value>::Atomic;
    Value fetch_add(Value value, sync::Step step) noexcept {
      const Value others = sync::max_count - Value{value == 1};  // the word starts with one owner
      return sync::Default::Atomic<Value>::fetch_add(value, step) + others * value;
    }
  };
};

TEST(ShareWordDeathTest, more_clones_than_can_be_counted_end_the_program) {
  basic_share_word<CrowdedSync> word;
  EXPECT_DEATH(word.add_owner(), "share_word.hpp:.*more than 2\\^30 lazy clones");
}

TEST(ShareWordDeathTest, adding_more_copies_than_can_be_counted_ends_the_program) {
  basic_share_word<CrowdedSync> word;
  EXPECT_DEATH(word.add_copy(), "added without a copier, or beyond");
}

// A Sync whose loads report sync::max_count copies under way.
struct CopyingSync : sync::Default {
  template <class Value>
  struct Atomic : sync::Default::Atomic<Value> {
    using sync::Default::Atomic<Value>::Atomic;
    Value load(sync::Step step) const noexcept {
      constexpr auto copies = static_cast<Value>(std::uint64_t{sync::max_count} << 32);
      return sync::Default::Atomic<Value>::load(step) + copies;
    }
    bool compare_exchange_weak(Value&, Value, sync::Step) noexcept { return true; }
  };
};

TEST(ShareWordDeathTest, claiming_more_copies_than_can_be_counted_ends_the_program) {
  basic_share_word<CopyingSync> word;
  word.add_owner();
  EXPECT_DEATH((void)word.claim(), "share_word.hpp:.*more than 2\\^30 copies under way");
}

TEST(ShareWordDeathTest, more_releases_than_owners_end_the_program) {
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

TEST(ShareWordDeathTest, ending_an_unclaimed_copy_ends_the_program) {
  ShareWord word;
  EXPECT_DEATH((void)word.finish_copy(), "finished that was never claimed");
  EXPECT_DEATH(word.abandon_copy(), "abandoned that was never claimed");
  EXPECT_DEATH(word.add_copy(), "added without a copier, or beyond");
}

}  // namespace
}  // namespace byre::test
