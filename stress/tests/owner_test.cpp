// SPDX-License-Identifier: BSL-1.0
/// What an owner finds wrong with the answers it gets, one by one.
#include "../mixed/owner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fake_value.hpp"

namespace byre::stress {
namespace {

struct OwnerTest : testing::Test {
  Failures failures;
  Counts counts;
  Owner owner{failures, counts, 3};
  FakeValue checked;

  std::string reported() const {
    const auto texts = failures.texts();
    return texts.empty() ? "" : texts.front();
  }
  std::string reported_by_write() {
    owner.write(checked, Wait::allowed);
    return reported();
  }
  std::string reported_by_resize(std::size_t nbytes = 60) {
    owner.resize(checked, nbytes);
    return reported();
  }
};

TEST_F(OwnerTest, nothing_is_said_of_a_storage_that_is_right) {
  owner.check(checked);
  EXPECT_EQ(reported_by_write(), "");
  EXPECT_EQ(reported_by_resize(), "");
  EXPECT_EQ(reported_by_resize(100), "");
}

TEST_F(OwnerTest, a_wrong_byte_is_noticed_in_what_is_its_own) {
  checked.value.bytes[50] ^= std::byte{1};
  owner.check(checked);
  EXPECT_NE(reported().find("thread 3: a storage is torn or overwritten"), reported().npos)
      << reported();
}

TEST_F(OwnerTest, a_wrong_byte_is_noticed_in_what_all_share) {
  checked.value.bytes[50] ^= std::byte{1};
  owner.check(checked.value, checked.now);
  EXPECT_NE(reported().find("a storage on the shared_slots is torn"), reported().npos)
      << reported();
}

TEST_F(OwnerTest, a_copy_of_what_nobody_shared_is_noticed) {
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write to data that nobody shared copied or stole it");
}

TEST_F(OwnerTest, read_only_data_that_was_not_copied_is_noticed) {
  checked.value.says_read_only = true;
  EXPECT_EQ(reported_by_write(), "thread 3: read-only data was not copied");
}

TEST_F(OwnerTest, data_that_stays_shared_after_a_write_is_noticed) {
  checked.value.says_unique = false;
  checked.value.is_unique_after = false;
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, data_that_stays_read_only_after_a_write_is_noticed) {
  checked.value.says_read_only = true;
  checked.value.is_writable_after = false;
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, what_a_write_finds_is_read_before_it_is_overwritten) {
  checked.value.bytes[50] ^= std::byte{1};
  EXPECT_NE(reported_by_write().find("a storage is torn"), std::string::npos) << reported();
}

TEST_F(OwnerTest, a_resize_that_is_refused_without_a_reason_is_noticed) {
  checked.value.on_resize = [](FakeStorage&) { throw NotUnique(format_text("it is shared")); };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize was refused though nobody shared the data");
}

TEST_F(OwnerTest, a_resize_to_another_size_is_noticed) {
  checked.value.on_resize = [](FakeStorage& value) { value.bytes.resize(59); };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize left another size");
}

TEST_F(OwnerTest, a_resize_that_loses_bytes_is_noticed) {
  checked.value.on_resize = [](FakeStorage& value) {
    value.bytes.resize(60);
    value.bytes[59] ^= std::byte{1};
  };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize lost bytes");
}

TEST_F(OwnerTest, a_fault_that_nothing_was_thrown_for_is_noticed) {
  owner.check_success(Operation::write, std::nullopt);
  EXPECT_EQ(reported(), "");
  owner.check_success(Operation::write, Fault::copy);
  EXPECT_EQ(reported(), "thread 3: write did not throw though this was made to fail: copy");
}

TEST_F(OwnerTest, what_a_fault_throws_is_taken) {
  owner.check_error(Fault::copy, CopyFailed());
  for (const Fault fault : {Fault::allocation, Fault::random, Fault::budget, Fault::heap}) {
    owner.check_error(fault, OutOfMemory(10, "test"));
  }
  owner.check_error(Fault::heap, std::bad_alloc());
  EXPECT_EQ(reported(), "");
}

TEST_F(OwnerTest, an_error_that_is_not_of_the_fault_is_noticed) {
  owner.check_error(Fault::copy, OutOfMemory(10, "test"));
  EXPECT_NE(reported().find("threw something else than copy does"), std::string::npos)
      << reported();
}

TEST_F(OwnerTest, an_error_without_a_fault_is_noticed) {
  owner.check_error(std::nullopt, std::runtime_error("no reason"));
  EXPECT_EQ(reported(), "thread 3: threw though nothing was made to fail: no reason");
}

TEST_F(OwnerTest, memory_that_ran_out_of_itself_is_called_that) {
  owner.check_error(std::nullopt, std::bad_alloc());
  EXPECT_NE(reported().find("memory ran out, of itself; give fewer --storages"), std::string::npos)
      << reported();
}

}  // namespace
}  // namespace byre::stress
