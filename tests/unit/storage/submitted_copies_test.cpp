// SPDX-License-Identifier: BSL-1.0
// Deferred copies: copies of a device's memory that end later. The scenarios of
// verification/scenarios/submitted_copies.cpp cover all interleavings; these tests cover results,
// counters, errors and real threads.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "pages/children.hpp"
#include "support/at_once.hpp"
#include "support/queued_device.hpp"

namespace byre::test {
namespace {

/// A buffer of 64 bytes, and a submitted command that fills them with 7.
Buffer sevens(QueuedDevice& device) {
  Buffer buffer = Buffer::allocate(64, device);
  device.submit_fill(buffer.mutable_data(), 7, 64);
  return buffer;
}

int value_of(QueuedDevice& device, const Buffer& buffer) {
  const auto value = device.submit_read(buffer.data());
  device.run();
  return *value;
}

/// A buffer of a device and a clone of it.
struct Shared {
  explicit Shared(CopiesEnd copies_end) : device(copies_end) {}

  QueuedDevice device;
  Buffer source = sevens(device);
  Buffer clone = source;
};

/// Memory to adopt: 64 bytes of 7, and the number of times it was released.
struct AdoptedBytes {
  Buffer adopted(QueuedDevice& device, bool is_read_only = true) {
    const auto release = [this](void*) { ++releases; };
    return is_read_only ? Buffer::adopt_read_only(bytes.data(), 64, release, device)
                        : Buffer::adopt(bytes.data(), 64, release, device);
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(64, std::byte{7});
  int releases = 0;
};

class SubmittedCopies : public testing::TestWithParam<CopiesEnd> {};
INSTANTIATE_TEST_SUITE_P(OfBothKinds, SubmittedCopies,
                         testing::Values(CopiesEnd::later, CopiesEnd::in_order));

TEST_P(SubmittedCopies, do_not_block_the_writer) {
  Shared both(GetParam());
  const stats::Counters before = stats::snapshot();
  EXPECT_EQ(both.clone.materialize(), Materialized::copied);
  EXPECT_FALSE(both.clone.shares_data_with(both.source));
  EXPECT_TRUE(both.clone.is_unique());
  EXPECT_FALSE(both.source.is_unique()) << "the device has not read the source yet";
  EXPECT_EQ(both.source.use_count(), 1U);
  both.device.submit_fill(both.clone.mutable_data(), 8, 64);
  both.device.run();
  EXPECT_TRUE(both.source.is_unique());
  EXPECT_EQ(value_of(both.device, both.source), 7);
  EXPECT_EQ(value_of(both.device, both.clone), 8);
  const stats::Counters done = stats::snapshot() - before;
  EXPECT_EQ(done.copies, BYRE_STATS ? 1 : 0);
  EXPECT_EQ(done.bytes_copied, BYRE_STATS ? 64 : 0);
}

TEST(SubmittedCopies, in_order_copies_do_not_delay_a_steal_of_the_source) {
  Shared both(CopiesEnd::in_order);
  both.clone.materialize();
  const std::byte* const before = std::as_const(both.source).data();
  const stats::Counters counted = stats::snapshot();
  EXPECT_EQ(both.source.materialize(), Materialized::stole);
  EXPECT_EQ((stats::snapshot() - counted).steals, BYRE_STATS ? 1 : 0);
  EXPECT_EQ(both.source.materialize(Wait::never), Materialized::stole) << "the copy is pending";
  EXPECT_EQ(both.source.mutable_data(), before);
  both.device.submit_fill(both.source.mutable_data(), 9, 64);
  EXPECT_EQ(value_of(both.device, both.clone), 7) << "the copy must precede the write";
  EXPECT_EQ(value_of(both.device, both.source), 9);
  EXPECT_EQ(both.source.materialize(), Materialized::already_unique);
}

TEST(SubmittedCopies, if_out_of_order_a_last_owner_that_must_not_wait_copies_too) {
  Shared both(CopiesEnd::later);
  both.clone.materialize();
  EXPECT_EQ(both.source.materialize(Wait::never), Materialized::copied);
  EXPECT_EQ(value_of(both.device, both.source), 7);
  EXPECT_EQ(value_of(both.device, both.clone), 7);
}

TEST_P(SubmittedCopies, keep_the_source_alive_until_they_end) {
  for (const bool is_read_only : {false, true}) {
    QueuedDevice device(GetParam());
    AdoptedBytes memory;
    Buffer clone = memory.adopted(device, is_read_only);
    if (!is_read_only) {
      const Buffer source = clone;
      clone.materialize();
    }
    EXPECT_EQ(clone.materialize(),
              is_read_only ? Materialized::copied : Materialized::already_unique);
    EXPECT_EQ(memory.releases, 0) << "the device has not read the source yet";
    device.run();
    EXPECT_EQ(memory.releases, 1);
    EXPECT_EQ(value_of(device, clone), 7);
  }
}

TEST_P(SubmittedCopies, a_failed_submission_changes_nothing) {
  Shared both(GetParam());
  both.device.fails_to_submit = true;
  EXPECT_THROW(both.clone.mutable_data(), std::runtime_error);
  EXPECT_TRUE(both.clone.shares_data_with(both.source));
  EXPECT_EQ(both.source.use_count(), 2U);
  AdoptedBytes memory;
  {
    Buffer buffer = memory.adopted(both.device);
    EXPECT_THROW(buffer.mutable_data(), std::runtime_error);
    EXPECT_TRUE(buffer.is_read_only());
    EXPECT_EQ(buffer.use_count(), 1U);
    EXPECT_EQ(memory.releases, 0);
  }
  EXPECT_EQ(memory.releases, 1);
  both.device.fails_to_submit = false;
  EXPECT_EQ(both.clone.materialize(), Materialized::copied);
  both.device.run();
  EXPECT_EQ(both.source.materialize(), Materialized::already_unique);
}

TEST_P(SubmittedCopies, copies_completed_at_submission_end_before_sinks_run) {
  Shared both(GetParam());
  both.device.run();
  both.device.copies_at_once = true;
  AdoptedBytes memory;
  Buffer read_only = memory.adopted(both.device);
  int reports = 0;
  const stats::InstalledSink sink([&](const stats::CopyEvent&) {
    if (++reports == 1) {
      EXPECT_TRUE(both.source.is_unique());
      EXPECT_EQ(both.source.materialize(Wait::never), Materialized::already_unique);
    } else {
      EXPECT_EQ(memory.releases, 1);
    }
  });
  EXPECT_EQ(both.clone.materialize(), Materialized::copied);
  EXPECT_TRUE(both.source.is_unique());
  read_only.materialize();
  EXPECT_EQ(reports, BYRE_STATS ? 2 : 0);
  EXPECT_EQ(value_of(both.device, both.clone), 7);
}

TEST(SubmittedCopies, in_order_copies_allow_the_last_owner_to_resize) {
  for (const CopiesEnd copies_end : {CopiesEnd::later, CopiesEnd::in_order}) {
    Shared both(copies_end);
    EXPECT_THROW(both.source.resize(32), NotUnique);
    both.clone.materialize();
    if (copies_end == CopiesEnd::later) {
      EXPECT_THROW(both.source.resize(32), NotUnique) << "the copy is pending";
      both.device.run();
    }
    both.source.resize(32);
    EXPECT_EQ(both.source.nbytes(), 32U);
    both.source.resize(128);
    EXPECT_EQ(value_of(both.device, both.source), 7);
    EXPECT_EQ(value_of(both.device, both.clone), 7);
  }
}

TEST(SubmittedCopies, of_read_only_data_own_the_source_and_prevent_a_resize) {
  QueuedDevice device(CopiesEnd::in_order);
  AdoptedBytes memory;
  Buffer buffer = memory.adopted(device);
  Buffer copied = buffer;
  copied.materialize();
  EXPECT_EQ(buffer.use_count(), 2U) << "a copier of read-only data must own it";
  EXPECT_THROW(buffer.resize(32), NotUnique);
  EXPECT_EQ(buffer.nbytes(), 64U);
  device.run();
}

#if BYRE_STATS

/// The lock on the source is released before the sink is called.
TEST(SubmittedCopies, sinks_of_a_submitted_copy_may_write_the_source) {
  Shared both(CopiesEnd::in_order);
  Buffer other = both.source;
  int reports = 0;
  const stats::InstalledSink sink([&](const stats::CopyEvent&) {
    ++reports;
    other.materialize();
  });
  both.clone.materialize();
  EXPECT_EQ(reports, 1);
  EXPECT_FALSE(other.shares_data_with(both.source));
  EXPECT_EQ(value_of(both.device, other), 7);
}

TEST(SubmittedCopies, the_last_owner_waits_for_out_of_order_copies) {
  Shared both(CopiesEnd::later);
  both.clone.materialize();
  const std::int64_t waits = stats::snapshot().waits;
  std::thread other([&both, waits] {
    await([waits] { return stats::snapshot().waits > waits; });
    both.device.run();
  });
  EXPECT_EQ(both.source.materialize(), Materialized::stole);
  other.join();
  EXPECT_TRUE(both.source.is_unique());
}

TEST_P(SubmittedCopies, are_reported_with_their_causes) {
  Shared both(GetParam());
  AdoptedBytes memory;
  std::vector<stats::CopyCause> causes;
  const stats::InstalledSink sink(
      [&causes](const stats::CopyEvent& event) { causes.push_back(event.cause); });
  memory.adopted(both.device).materialize();
  both.clone.materialize();
  both.source.materialize(Wait::never);
  Buffer adopted_twice = memory.adopted(both.device);
  const Buffer other = adopted_twice;
  adopted_twice.materialize();
  both.device.run();
  using enum stats::CopyCause;
  EXPECT_EQ(causes, GetParam() == CopiesEnd::later
                        ? std::vector({read_only, shared, pending, shared})
                        : std::vector({read_only, shared, shared}));
}

#endif

/// The threads that end the parent's copies do not exist in a child of fork().
TEST(SubmittedCopies, a_forked_child_does_not_wait_for_copies_of_its_parent) {
  Shared both(CopiesEnd::later);
  both.clone.materialize();
  in_a_child([&both] { EXPECT_EQ(both.source.materialize(), Materialized::copied); });
  both.device.run();
}

TEST(SubmittedCopies, a_parallel_loop_submits_one_copy) {
  QueuedDevice device(CopiesEnd::in_order);
  Storage storage(sevens(device));
  const Storage clone = storage.lazy_clone();
  std::atomic<int> copied = 0;
  at_once(4, [&](std::size_t) {
    copied += storage.materialize_in_parallel() == Materialized::copied ? 1 : 0;
  });
  EXPECT_EQ(copied, 1);
  device.run();
}

/// All owners of one buffer write while the device executes copies.
TEST_P(SubmittedCopies, writers_of_shared_data_make_one_copy_fewer_than_owners) {
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t writers = 4;
    QueuedDevice device(GetParam());
    device.start();
    std::vector<Buffer> owners(writers, sevens(device));
    std::atomic<int> kept = 0;
    at_once(writers, [&](std::size_t index) {
      kept += owners[index].materialize() == Materialized::copied ? 0 : 1;
      device.submit_fill(owners[index].mutable_data() + 16 * index, 8, 16);
    });
    device.stop();
    EXPECT_EQ(kept, 1);
    for (std::size_t index = 0; index < writers; ++index) {
      for (std::size_t part = 0; part < writers; ++part) {
        const auto value = device.submit_read(owners[index].data() + 16 * part);
        device.run();
        EXPECT_EQ(*value, part == index ? 8 : 7) << "a copy must not contain another owner's write";
      }
    }
  }
}

}  // namespace
}  // namespace byre::test
