// SPDX-License-Identifier: BSL-1.0
/// What an owner finds wrong with the answers it gets, one by one.
#include "../world/owner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "lying.hpp"

namespace byre::stress {
namespace {

struct OwnerTest : testing::Test {
  Failures failures;
  Tally tally;
  Owner owner{failures, tally, 3};
  LyingItem item;

  std::string told() const {
    const auto texts = failures.texts();
    return texts.empty() ? "" : texts.front();
  }
  std::string told_by_write() {
    owner.write(item, Wait::allowed);
    return told();
  }
  std::string told_by_resize(std::size_t nbytes = 60) {
    owner.resize(item, nbytes);
    return told();
  }
};

TEST_F(OwnerTest, nothing_is_said_of_a_storage_that_is_right) {
  owner.check(item);
  EXPECT_EQ(told_by_write(), "");
  EXPECT_EQ(told_by_resize(), "");
  EXPECT_EQ(told_by_resize(100), "");
}

TEST_F(OwnerTest, a_wrong_byte_is_noticed_in_what_is_its_own) {
  item.value.bytes[50] ^= std::byte{1};
  owner.check(item);
  EXPECT_NE(told().find("thread 3: a storage is torn or overwritten"), told().npos) << told();
}

TEST_F(OwnerTest, a_wrong_byte_is_noticed_in_what_all_share) {
  item.value.bytes[50] ^= std::byte{1};
  owner.check(item.value, item.now);
  EXPECT_NE(told().find("a storage on the board is torn"), told().npos) << told();
}

TEST_F(OwnerTest, a_copy_of_what_nobody_shared_is_noticed) {
  item.value.answer = Materialized::copied;
  EXPECT_EQ(told_by_write(), "thread 3: a write to data that nobody shared copied or stole it");
}

TEST_F(OwnerTest, read_only_data_that_was_not_copied_is_noticed) {
  item.value.says_read_only = true;
  EXPECT_EQ(told_by_write(), "thread 3: read-only data was not copied");
}

TEST_F(OwnerTest, data_that_stays_shared_after_a_write_is_noticed) {
  item.value.says_unique = false;
  item.value.is_unique_after = false;
  item.value.answer = Materialized::copied;
  EXPECT_EQ(told_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, data_that_stays_read_only_after_a_write_is_noticed) {
  item.value.says_read_only = true;
  item.value.is_writable_after = false;
  item.value.answer = Materialized::copied;
  EXPECT_EQ(told_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, what_a_write_finds_is_read_before_it_is_overwritten) {
  item.value.bytes[50] ^= std::byte{1};
  EXPECT_NE(told_by_write().find("a storage is torn"), std::string::npos) << told();
}

TEST_F(OwnerTest, a_resize_that_is_refused_without_a_reason_is_noticed) {
  item.value.on_resize = [](LyingStorage&) { throw NotUnique(format_text("it is shared")); };
  EXPECT_EQ(told_by_resize(), "thread 3: a resize was refused though nobody shared the data");
}

TEST_F(OwnerTest, a_resize_to_another_size_is_noticed) {
  item.value.on_resize = [](LyingStorage& value) { value.bytes.resize(59); };
  EXPECT_EQ(told_by_resize(), "thread 3: a resize left another size");
}

TEST_F(OwnerTest, a_resize_that_loses_bytes_is_noticed) {
  item.value.on_resize = [](LyingStorage& value) {
    value.bytes.resize(60);
    value.bytes[59] ^= std::byte{1};
  };
  EXPECT_EQ(told_by_resize(), "thread 3: a resize lost bytes");
}

TEST_F(OwnerTest, a_fault_that_nothing_was_thrown_for_is_noticed) {
  owner.check_silence(Operation::write, std::nullopt);
  EXPECT_EQ(told(), "");
  owner.check_silence(Operation::write, Fault::copy);
  EXPECT_EQ(told(), "thread 3: write did not throw though this was made to fail: copy");
}

TEST_F(OwnerTest, what_a_fault_throws_is_taken) {
  owner.check_error(Fault::copy, CopyFailed());
  for (const Fault fault : {Fault::allocation, Fault::random, Fault::budget, Fault::heap}) {
    owner.check_error(fault, OutOfMemory(10, "test"));
  }
  owner.check_error(Fault::heap, std::bad_alloc());
  EXPECT_EQ(told(), "");
}

TEST_F(OwnerTest, an_error_that_is_not_of_the_fault_is_noticed) {
  owner.check_error(Fault::copy, OutOfMemory(10, "test"));
  EXPECT_NE(told().find("threw something else than copy does"), std::string::npos) << told();
}

TEST_F(OwnerTest, an_error_without_a_fault_is_noticed) {
  owner.check_error(std::nullopt, std::runtime_error("no reason"));
  EXPECT_EQ(told(), "thread 3: threw though nothing was made to fail: no reason");
}

TEST_F(OwnerTest, memory_that_ran_out_of_itself_is_called_that) {
  owner.check_error(std::nullopt, std::bad_alloc());
  EXPECT_NE(told().find("memory ran out, of itself; give fewer --storages"), std::string::npos)
      << told();
}

}  // namespace
}  // namespace byre::stress
