// SPDX-License-Identifier: BSL-1.0
/// The checks at a checkpoint see what they are there for: each is shown a world that is wrong.
/// owner_test.cpp has those of each operation.
#include <gtest/gtest.h>

#include <string>

#include "../world/census.hpp"
#include "../world/decision.hpp"
#include "../world/maker.hpp"
#include "../world/tally.hpp"
#include "lying.hpp"

namespace byre::stress {
namespace {

using TestedWorld = World<sync::Boost, basic_share_word>;
using TestedCensus = Census<sync::Boost, basic_share_word>;
using TestedItem = TestedWorld::Item;

std::string first(const Failures& failures) {
  const auto texts = failures.texts();
  return texts.empty() ? "" : texts.front();
}

struct WorldTest : testing::Test {
  TestedWorld world{Settings{.threads = 1}};
  Tally tally;
  Maker<sync::Boost, basic_share_word> maker{world, 0, tally};
  TestedCensus census{world};

  /// Of the allocator that keeps books.
  const Decision decision{.nbytes = 1000};
  TestedItem item = maker.allocate(decision);

  std::string told_by_census() {
    census.check(tally.adopted);
    return first(world.failures);
  }
};

TEST_F(WorldTest, a_census_of_all_there_is_finds_nothing) {
  const TestedItem clone = maker.clone(item, decision);
  const TestedItem adopted = maker.adopt(decision);
  const TestedItem mapped = maker.map(decision);
  census.count(item);
  census.count(clone);
  census.count(adopted);
  census.count(mapped);
  EXPECT_EQ(told_by_census(), "");
}

TEST_F(WorldTest, an_owner_too_many_is_noticed) {
  const TestedItem unseen = maker.clone(item, decision);
  census.count(item);
  EXPECT_EQ(told_by_census(), "owners of some data: 2, and have to be 1");
}

TEST_F(WorldTest, an_owner_that_was_lost_is_noticed) {
  census.count(item);
  census.count(item);
  EXPECT_EQ(told_by_census(), "owners of some data: 1, and have to be 2");
}

TEST_F(WorldTest, a_block_that_nobody_owns_is_noticed) {
  EXPECT_EQ(told_by_census(), "blocks that are out: 1, and have to be 0");
}

TEST_F(WorldTest, a_deleter_that_was_not_called_is_noticed) {
  census.count(item);
  ++tally.adopted;
  EXPECT_EQ(told_by_census(), "deleters called: 0, and have to be 1");
}

TEST_F(WorldTest, a_mapping_that_stayed_is_noticed) {
  census.count(item);
  const TestedItem unseen = maker.map(decision);
  EXPECT_EQ(told_by_census(), "mappings of files: 1, and have to be 0");
}

TEST_F(WorldTest, wrong_bytes_are_noticed) {
  item.with([](auto& value) { value.mutable_data()[999] ^= std::byte{1}; });
  census.count(item);
  EXPECT_NE(told_by_census().find("torn or overwritten"), std::string::npos);
}

TEST_F(WorldTest, a_handle_too_many_is_noticed) {
  item.become_storage();
  const auto unseen = *item.storage();
  census.count(item);
  EXPECT_EQ(told_by_census(), "handles of a storage: 2, and have to be 1");
}

TEST_F(WorldTest, data_that_is_unique_to_two_owners_is_noticed) {
  LyingItem lying;
  lying.value.says_owners = 2;
  census.count(lying);
  EXPECT_EQ(first(world.failures),
            "some data is unique though it has other owners, or the reverse");
}

TEST_F(WorldTest, wrong_bytes_on_the_board_are_noticed) {
  item.become_storage();
  const Content other{item.expected().identity, item.expected().version + 1};
  world.board.put(0, {item.release_storage(), other});
  census.count_shared();
  EXPECT_NE(told_by_census().find("with all threads paused, a storage is stale"), std::string::npos)
      << told_by_census();
}

TEST_F(WorldTest, a_handle_too_many_of_what_is_on_the_board_is_noticed) {
  item.become_storage();
  const Content expected = item.expected();
  const auto unseen = *item.storage();
  world.board.put(0, {item.release_storage(), expected});
  census.count_shared();
  EXPECT_EQ(told_by_census(), "handles of a storage on the board: 2, and have to be 1");
}

TEST_F(WorldTest, what_is_in_a_mailbox_is_counted) {
  TestedItem handed = maker.clone(item, decision);
  world.mailboxes[0].put(std::move(handed));
  census.count(item);
  EXPECT_EQ(told_by_census(), "owners of some data: 2, and have to be 1");
}

TEST_F(WorldTest, a_mailbox_that_is_counted_explains_its_owners) {
  TestedItem handed = maker.clone(item, decision);
  world.mailboxes[0].put(std::move(handed));
  census.count(item);
  census.count_shared();
  EXPECT_EQ(told_by_census(), "");
}

TEST(Pools, that_keep_more_than_they_may_are_noticed) {
  Failures failures;
  check_pool(100, 100, failures);
  EXPECT_FALSE(failures.any());
  check_pool(101, 100, failures);
  EXPECT_EQ(first(failures), "a pool keeps 101 bytes, beyond its limit of 100");
}

struct CountersTest : testing::Test {
  Tally tally;
  stats::Counters counted;
  Failures failures;

  std::string told() {
    check_counters(tally, counted, failures);
    return first(failures);
  }
};

TEST_F(CountersTest, what_was_done_and_what_was_counted_agree) {
  tally.note_write(Materialized::copied, true, false, 100);
  tally.note_write(Materialized::stole, true, false, 100);
  tally.note_write(Materialized::copied, false, true, 50);
  tally.note_write(Materialized::already_unique, false, false, 7);
  tally.note_copy(tally.resized, 10);
  counted = {.copies = 3, .steals = 1, .bytes_copied = 160};
  EXPECT_EQ(told(), "");
}

TEST_F(CountersTest, a_copy_that_was_not_needed_is_noticed) {
  tally.note_write(Materialized::copied, false, false, 100);
  counted = {.copies = 1, .bytes_copied = 100};
  EXPECT_NE(told().find("are more than the 0 writes to shared data"), std::string::npos);
}

#if BYRE_STATS

TEST_F(CountersTest, a_copy_that_was_not_counted_is_noticed) {
  tally.note_write(Materialized::copied, true, false, 100);
  counted.bytes_copied = 100;
  EXPECT_EQ(told(), "copies: the counters say 0, the threads did 1");
}

TEST_F(CountersTest, a_steal_too_many_is_noticed) {
  counted.steals = 1;
  EXPECT_EQ(told(), "steals: the counters say 1, the threads did 0");
}

TEST_F(CountersTest, a_byte_too_few_is_noticed) {
  tally.note_write(Materialized::copied, true, false, 100);
  counted = {.copies = 1, .bytes_copied = 99};
  EXPECT_EQ(told(), "bytes copied: the counters say 99, the threads did 100");
}

#endif

TEST(Decisions, follow_from_the_seed_alone) {
  const Settings settings{.faults = usual_faults};
  Decisions one(settings, 1);
  Decisions same(settings, 1);
  Decisions other(settings, 2);
  for (int count = 0; count < 1000; ++count) {
    one.next();
    same.next();
    other.next();
  }
  EXPECT_EQ(one.digest(), same.digest());
  EXPECT_NE(one.digest(), other.digest());
}

TEST(Decisions, are_of_the_mix_and_the_sizes_that_were_asked_for) {
  const Settings settings{.mix = parse_mix("read=1,clone=3"), .sizes = parse_sizes("100..4K")};
  Decisions decisions(settings, 1);
  int clones = 0;
  for (int count = 0; count < 1000; ++count) {
    const Decision decision = decisions.next();
    clones += decision.operation == Operation::clone ? 1 : 0;
    EXPECT_TRUE(decision.operation == Operation::clone || decision.operation == Operation::read);
    EXPECT_TRUE(decision.nbytes >= 100 && decision.nbytes <= 4096);
    EXPECT_FALSE(decision.fault);
  }
  EXPECT_NEAR(clones, 750, 100);  // the seed is fixed
}

}  // namespace
}  // namespace byre::stress
