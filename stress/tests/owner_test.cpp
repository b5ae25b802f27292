// SPDX-License-Identifier: BSL-1.0
/// The errors that an owner detects in the results of its calls, one by one.
#include "../mixed/owner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fake_value.hpp"
#include "support/complaint.hpp"

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

TEST_F(OwnerTest, a_right_storage_is_no_failure) {
  owner.check(checked);
  EXPECT_EQ(reported_by_write(), "");
  EXPECT_EQ(reported_by_resize(), "");
  EXPECT_EQ(reported_by_resize(100), "");
}

TEST_F(OwnerTest, a_wrong_byte_is_detected_in_its_own_data) {
  checked.value.bytes[50] ^= std::byte{1};
  owner.check(checked);
  EXPECT_NE(reported().find("thread 3: a storage is torn or overwritten"), reported().npos)
      << reported();
}

TEST_F(OwnerTest, a_wrong_byte_is_detected_in_a_shared_slot) {
  checked.value.bytes[50] ^= std::byte{1};
  owner.check(checked.value, checked.now);
  EXPECT_NE(reported().find("a storage in a shared slot, or what a pin reads, is torn"),
            reported().npos)
      << reported();
}

TEST_F(OwnerTest, a_copy_of_unshared_data_is_detected) {
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write to data that nobody shared copied or stole it");
}

TEST_F(OwnerTest, read_only_data_that_was_not_copied_is_detected) {
  checked.value.says_read_only = true;
  EXPECT_EQ(reported_by_write(), "thread 3: read-only data was not copied");
}

TEST_F(OwnerTest, data_that_stays_shared_after_a_write_is_detected) {
  checked.value.says_unique = false;
  checked.value.is_unique_after = false;
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, data_that_stays_read_only_after_a_write_is_detected) {
  checked.value.says_read_only = true;
  checked.value.is_writable_after = false;
  checked.value.answer = Materialized::copied;
  EXPECT_EQ(reported_by_write(), "thread 3: a write left the data shared");
}

TEST_F(OwnerTest, a_write_reads_the_data_before_it_overwrites_it) {
  checked.value.bytes[50] ^= std::byte{1};
  EXPECT_TRUE(test::says(reported_by_write(), "a storage is torn")) << reported();
}

TEST_F(OwnerTest, a_resize_that_is_refused_without_a_reason_is_detected) {
  checked.value.on_resize = [](FakeStorage&) { throw NotUnique(format_text("it is shared")); };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize was refused though nobody shared the data");
}

TEST_F(OwnerTest, a_resize_to_another_size_is_detected) {
  checked.value.on_resize = [](FakeStorage& value) { value.bytes.resize(59); };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize left another size");
}

TEST_F(OwnerTest, a_resize_that_loses_bytes_is_detected) {
  checked.value.on_resize = [](FakeStorage& value) {
    value.bytes.resize(60);
    value.bytes[59] ^= std::byte{1};
  };
  EXPECT_EQ(reported_by_resize(), "thread 3: a resize lost bytes");
}

TEST_F(OwnerTest, a_resize_may_get_over_a_refusal_of_memory) {
  owner.check_success(Operation::resize, Fault::allocation);
  EXPECT_EQ(reported(), "");
  owner.check_success(Operation::resize, Fault::copy);
  EXPECT_EQ(reported(), "thread 3: resize did not throw despite the injected fault copy");
}

TEST_F(OwnerTest, a_fault_without_an_error_is_detected) {
  owner.check_success(Operation::write, std::nullopt);
  EXPECT_EQ(reported(), "");
  owner.check_success(Operation::write, Fault::copy);
  EXPECT_EQ(reported(), "thread 3: write did not throw despite the injected fault copy");
}

TEST_F(OwnerTest, the_error_of_a_fault_is_expected) {
  owner.check_error(Fault::copy, CopyFailed());
  for (const Fault fault : {Fault::allocation, Fault::random, Fault::budget, Fault::heap}) {
    owner.check_error(fault, OutOfMemory(10, "test"));
  }
  owner.check_error(Fault::heap, std::bad_alloc());
  EXPECT_EQ(reported(), "");
}

TEST_F(OwnerTest, an_error_that_is_not_of_the_fault_is_detected) {
  owner.check_error(Fault::copy, OutOfMemory(10, "test"));
  EXPECT_TRUE(test::says(reported(), "threw another error than copy does"));
}

TEST_F(OwnerTest, an_error_without_a_fault_is_detected) {
  owner.check_error(std::nullopt, std::runtime_error("no reason"));
  EXPECT_EQ(reported(), "thread 3: threw without an injected fault: no reason");
}

TEST_F(OwnerTest, real_lack_of_memory_is_named) {
  owner.check_error(std::nullopt, std::bad_alloc());
  EXPECT_TRUE(
      test::says(reported(), "out of memory, without an injected fault; use fewer --storages"));
}

}  // namespace
}  // namespace byre::stress
