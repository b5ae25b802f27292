// SPDX-License-Identifier: BSL-1.0
/// The checks at a checkpoint detect errors: each is shown a run state that is wrong. owner_test.cpp has
/// those of each operation.
#include <gtest/gtest.h>

#include <string>

#include "../mixed/counts.hpp"
#include "../mixed/decision.hpp"
#include "../mixed/invariant_audit.hpp"
#include "../mixed/value_factory.hpp"
#include "fake_value.hpp"
#include "support/complaint.hpp"

namespace byre::stress {
namespace {

using TestedState = RunState<sync::Boost, basic_share_word>;
using TestedValue = CheckedValue<sync::Boost, basic_share_word>;

std::string first(const Failures& failures) {
  const auto texts = failures.texts();
  return texts.empty() ? "" : texts.front();
}

struct InvariantAuditTest : testing::Test {
  TestedState state{Settings{.threads = 1}};
  Counts counts;
  ValueFactory<sync::Boost, basic_share_word> factory{state, 0, counts};
  InvariantAudit audit{state};

  /// Of the tracking allocator.
  const Decision decision{.nbytes = 1000};
  TestedValue checked = factory.allocate(decision);

  std::string reported_by_audit() {
    audit.check(counts.adopted);
    return first(state.failures);
  }
};

TEST_F(InvariantAuditTest, an_audit_of_all_values_finds_nothing) {
  const TestedValue clone = factory.clone(checked, decision);
  const TestedValue adopted = factory.adopt(decision);
  const TestedValue mapped = factory.map(decision);
  audit.add(checked);
  audit.add(clone);
  audit.add(adopted);
  audit.add(mapped);
  EXPECT_EQ(reported_by_audit(), "");
}

TEST_F(InvariantAuditTest, an_extra_owner_is_detected) {
  const TestedValue unseen = factory.clone(checked, decision);
  audit.add(checked);
  EXPECT_EQ(reported_by_audit(), "owners of some data: 2, and have to be 1");
}

TEST_F(InvariantAuditTest, an_owner_that_was_lost_is_detected) {
  audit.add(checked);
  audit.add(checked);
  EXPECT_EQ(reported_by_audit(), "owners of some data: 1, and have to be 2");
}

TEST_F(InvariantAuditTest, a_block_that_nobody_owns_is_detected) {
  EXPECT_EQ(reported_by_audit(), "live blocks: 1, and have to be 0");
}

TEST_F(InvariantAuditTest, a_deleter_that_was_not_called_is_detected) {
  audit.add(checked);
  ++counts.adopted;
  EXPECT_EQ(reported_by_audit(), "deleters called: 0, and have to be 1");
}

TEST_F(InvariantAuditTest, a_mapping_that_stayed_is_detected) {
  audit.add(checked);
  const TestedValue unseen = factory.map(decision);
  EXPECT_EQ(reported_by_audit(), "mappings of files: 1, and have to be 0");
}

TEST_F(InvariantAuditTest, wrong_bytes_are_detected) {
  checked.with([](auto& value) { value.mutable_data()[999] ^= std::byte{1}; });
  audit.add(checked);
  EXPECT_TRUE(test::says(reported_by_audit(), "torn or overwritten"));
}

TEST_F(InvariantAuditTest, an_extra_handle_is_detected) {
  checked.become_storage();
  const auto unseen = *checked.storage();
  audit.add(checked);
  EXPECT_EQ(reported_by_audit(), "handles of a storage: 2, and have to be 1");
}

TEST_F(InvariantAuditTest, data_that_is_unique_to_two_owners_is_detected) {
  FakeValue fake;
  fake.value.says_owners = 2;
  audit.add(fake);
  EXPECT_EQ(first(state.failures),
            "some data is unique though it has other owners, or the reverse");
}

TEST_F(InvariantAuditTest, wrong_bytes_in_a_shared_slot_are_detected) {
  checked.become_storage();
  const Content other{checked.expected().identity, checked.expected().version + 1};
  state.shared_slots.replace(0, {checked.release_storage(), other});
  audit.add_shared(state);
  EXPECT_TRUE(test::says(reported_by_audit(), "with all threads held, a storage is stale"));
}

TEST_F(InvariantAuditTest, an_extra_handle_in_a_shared_slot_is_detected) {
  checked.become_storage();
  const Content expected = checked.expected();
  const auto unseen = *checked.storage();
  state.shared_slots.replace(0, {checked.release_storage(), expected});
  audit.add_shared(state);
  EXPECT_EQ(reported_by_audit(), "handles of a storage in a shared slot: 2, and have to be 1");
}

TEST_F(InvariantAuditTest, a_value_in_a_mailbox_is_an_owner) {
  TestedValue handed = factory.clone(checked, decision);
  state.mailboxes[0].put(std::move(handed));
  audit.add(checked);
  EXPECT_EQ(reported_by_audit(), "owners of some data: 2, and have to be 1");
}

TEST_F(InvariantAuditTest, a_value_in_a_mailbox_is_added) {
  TestedValue handed = factory.clone(checked, decision);
  state.mailboxes[0].put(std::move(handed));
  audit.add(checked);
  audit.add_shared(state);
  EXPECT_EQ(reported_by_audit(), "");
}

TEST(Pools, that_keep_more_than_they_may_are_detected) {
  Failures failures;
  check_pool(100, 100, failures);
  EXPECT_FALSE(failures.any());
  check_pool(101, 100, failures);
  EXPECT_EQ(first(failures), "a pool keeps 101 bytes, beyond its limit of 100");
}

struct CountersTest : testing::Test {
  Counts counts;
  stats::Counters counters;
  Failures failures;

  std::string reported() {
    check_counters(counts, counters, failures);
    return first(failures);
  }
};

TEST_F(CountersTest, what_was_done_and_what_was_counted_agree) {
  counts.record_write(Materialized::copied, true, false, 100);
  counts.record_write(Materialized::stole, true, false, 100);
  counts.record_write(Materialized::copied, false, true, 50);
  counts.record_write(Materialized::already_unique, false, false, 7);
  counts.record_copy(counts.resized, 10);
  counters = {.copies = 3, .steals = 1, .bytes_copied = 160};
  EXPECT_EQ(reported(), "");
}

TEST_F(CountersTest, a_copy_that_was_not_needed_is_detected) {
  counts.record_write(Materialized::copied, false, false, 100);
  counters = {.copies = 1, .bytes_copied = 100};
  EXPECT_TRUE(test::says(reported(), "are more than the 0 writes to shared data"));
}

#if BYRE_STATS

TEST_F(CountersTest, a_copy_that_was_not_counted_is_detected) {
  counts.record_write(Materialized::copied, true, false, 100);
  counters.bytes_copied = 100;
  EXPECT_EQ(reported(), "copies: the counters say 0, the threads did 1");
}

TEST_F(CountersTest, a_steal_too_many_is_detected) {
  counters.steals = 1;
  EXPECT_EQ(reported(), "steals: the counters say 1, the threads did 0");
}

TEST_F(CountersTest, a_byte_too_few_is_detected) {
  counts.record_write(Materialized::copied, true, false, 100);
  counters = {.copies = 1, .bytes_copied = 99};
  EXPECT_EQ(reported(), "bytes copied: the counters say 99, the threads did 100");
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
