// SPDX-License-Identifier: BSL-1.0
// Copies of a device's memory, which end later. The scenarios of verification/scenarios/submitted_copies.cpp have
// all orders of threads; here are the answers, the figures and the errors, and real threads.
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/observe/expect.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/queued_device.hpp"

namespace byre::test {
namespace {

/// Of 64 bytes that are 7 once the device has come to it.
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

TEST(SubmittedCopies, let_the_writer_go_on_before_the_device_has_copied) {
  QueuedDevice device(CopiesEnd::in_order);
  const Buffer source = sevens(device);
  device.run();
  Buffer clone = source;
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_FALSE(clone.shares_data_with(source));
  EXPECT_TRUE(clone.is_unique());
  EXPECT_FALSE(source.is_unique()) << "the device has yet to read it";
  EXPECT_EQ(source.use_count(), 1U);
  device.submit_fill(clone.mutable_data(), 8, 64);
  device.run();
  EXPECT_TRUE(source.is_unique());
  EXPECT_EQ(value_of(device, source), 7);
  EXPECT_EQ(value_of(device, clone), 8);
}

TEST(SubmittedCopies, are_stolen_beside_in_order) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = sevens(device);
  Buffer clone = source;
  clone.materialize();
  const std::byte* const before = std::as_const(source).data();
  EXPECT_EQ(source.materialize(), Materialized::stole);
  EXPECT_EQ(source.materialize(Wait::never), Materialized::stole) << "while the copy is under way";
  EXPECT_EQ(source.mutable_data(), before);
  device.submit_fill(source.mutable_data(), 9, 64);
  EXPECT_EQ(value_of(device, clone), 7) << "the copy stands in front of the write";
  EXPECT_EQ(value_of(device, source), 9);
  EXPECT_EQ(source.materialize(), Materialized::already_unique);
}

TEST(SubmittedCopies, without_an_order_are_copied_again_by_who_may_not_wait) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = sevens(device);
  Buffer clone = source;
  clone.materialize();
  EXPECT_EQ(source.materialize(Wait::never), Materialized::copied);
  EXPECT_EQ(value_of(device, source), 7);
  EXPECT_EQ(value_of(device, clone), 7);
}

#if BYRE_STATS

/// Whose turn it was no longer has it, when its sink is called.
TEST(SubmittedCopies, are_reported_to_sinks_that_may_write_the_same_data) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = sevens(device);
  Buffer clone = source;
  Buffer other = source;
  int reports = 0;
  const stats::InstalledSink sink([&](const stats::CopyEvent&) {
    ++reports;
    other.materialize();
  });
  clone.materialize();
  EXPECT_EQ(reports, 1);
  EXPECT_FALSE(other.shares_data_with(source));
  EXPECT_EQ(value_of(device, other), 7);
}

TEST(SubmittedCopies, that_are_complete_are_ended_before_sinks_are_told) {
  for (const CopiesEnd copies_end : {CopiesEnd::later, CopiesEnd::in_order}) {
    QueuedDevice device(copies_end);
    Buffer source = sevens(device);
    device.run();
    device.copies_at_once = true;
    Buffer clone = source;
    std::optional<bool> was_unique;
    const stats::InstalledSink sink([&](const stats::CopyEvent&) {
      was_unique = source.is_unique();
      EXPECT_EQ(source.materialize(Wait::never), Materialized::already_unique);
    });
    EXPECT_EQ(clone.materialize(), Materialized::copied);
    EXPECT_EQ(was_unique, true);
  }
}

TEST(SubmittedCopies, of_read_only_data_release_it_before_sinks_are_told) {
  QueuedDevice device(CopiesEnd::later);
  device.copies_at_once = true;
  const std::vector<std::byte> lent(64, std::byte{7});
  bool is_released = false;
  Buffer buffer = Buffer::adopt_read_only(
      lent.data(), 64, [&is_released](void*) { is_released = true; }, device);
  bool was_released = false;
  const stats::InstalledSink sink([&](const stats::CopyEvent&) { was_released = is_released; });
  buffer.materialize();
  EXPECT_TRUE(was_released);
}

TEST(SubmittedCopies, without_an_order_are_waited_for) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = sevens(device);
  Buffer clone = source;
  clone.materialize();
  const std::int64_t waits = stats::snapshot().waits;
  std::thread other([&device, waits] {
    await([waits] { return stats::snapshot().waits > waits; });
    device.run();
  });
  EXPECT_EQ(source.materialize(), Materialized::stole);
  other.join();
  EXPECT_TRUE(source.is_unique());
}

#endif

TEST(SubmittedCopies, keep_a_source_that_nobody_owns) {
  QueuedDevice device(CopiesEnd::in_order);
  bool is_released = false;
  std::vector<std::byte> lent(64, std::byte{7});
  Buffer clone;
  {
    const Buffer source = Buffer::adopt(
        lent.data(), 64, [&is_released](void*) { is_released = true; }, device);
    clone = source;
    clone.materialize();
  }
  EXPECT_FALSE(is_released) << "the device has yet to read it";
  device.run();
  EXPECT_TRUE(is_released);
  EXPECT_EQ(value_of(device, clone), 7);
}

TEST(SubmittedCopies, of_read_only_data_keep_it_too) {
  QueuedDevice device(CopiesEnd::in_order);
  bool is_released = false;
  const std::vector<std::byte> lent(64, std::byte{7});
  Buffer buffer = Buffer::adopt_read_only(
      lent.data(), 64, [&is_released](void*) { is_released = true; }, device);
  EXPECT_EQ(buffer.materialize(), Materialized::copied);
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  EXPECT_FALSE(is_released);
  EXPECT_EQ(value_of(device, buffer), 7);
  EXPECT_TRUE(is_released);
}

TEST(SubmittedCopies, that_cannot_be_submitted_change_nothing) {
  for (const CopiesEnd copies_end : {CopiesEnd::later, CopiesEnd::in_order}) {
    QueuedDevice device(copies_end);
    Buffer source = sevens(device);
    Buffer clone = source;
    device.fails_to_submit = true;
    EXPECT_THROW(clone.mutable_data(), std::runtime_error);
    EXPECT_TRUE(clone.shares_data_with(source));
    EXPECT_EQ(source.use_count(), 2U);
    device.fails_to_submit = false;
    EXPECT_EQ(clone.materialize(), Materialized::copied);
    device.run();
    EXPECT_EQ(source.materialize(), Materialized::already_unique);
  }
}

TEST(SubmittedCopies, of_read_only_data_that_cannot_be_submitted_change_nothing) {
  QueuedDevice device(CopiesEnd::in_order);
  const std::vector<std::byte> lent(64, std::byte{7});
  int releases = 0;
  {
    Buffer buffer = Buffer::adopt_read_only(
        lent.data(), 64, [&releases](void*) { ++releases; }, device);
    device.fails_to_submit = true;
    EXPECT_THROW(buffer.mutable_data(), std::runtime_error);
    EXPECT_TRUE(buffer.is_read_only());
    EXPECT_EQ(buffer.use_count(), 1U);
    EXPECT_EQ(releases, 0);
  }
  EXPECT_EQ(releases, 1);
}

TEST(SubmittedCopies, may_be_complete_at_once) {
  QueuedDevice device(CopiesEnd::in_order);
  const Buffer source = sevens(device);
  device.run();
  device.copies_at_once = true;
  Buffer clone = source;
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_TRUE(source.is_unique());
  EXPECT_EQ(value_of(device, clone), 7);
}

TEST(SubmittedCopies, do_not_keep_the_last_owner_from_resizing_in_order) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = sevens(device);
  Buffer clone = source;
  EXPECT_THROW(source.resize(32), NotUnique);
  clone.materialize();
  source.resize(32);
  EXPECT_EQ(source.nbytes(), 32U);
  source.resize(128);
  EXPECT_EQ(value_of(device, source), 7);
  EXPECT_EQ(value_of(device, clone), 7);
}

TEST(SubmittedCopies, let_nobody_resize_read_only_data_that_is_shared) {
  QueuedDevice device(CopiesEnd::in_order);
  const std::vector<std::byte> lent(64, std::byte{7});
  Buffer buffer = Buffer::adopt_read_only(
      lent.data(), 64, [](void*) {}, device);
  Buffer copied = buffer;
  copied.materialize();
  EXPECT_EQ(buffer.use_count(), 2U) << "a copier of read-only data owns it until its copy ends";
  EXPECT_THROW(buffer.resize(32), NotUnique);
  EXPECT_EQ(buffer.nbytes(), 64U);
  device.run();
}

TEST(SubmittedCopies, without_an_order_keep_everybody_from_resizing) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = sevens(device);
  Buffer clone = source;
  clone.materialize();
  EXPECT_THROW(source.resize(32), NotUnique);
  device.run();
  source.resize(32);
}

TEST(SubmittedCopies, are_counted_as_copies_are) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "nothing is counted";
  }
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = sevens(device);
  Buffer clone = source;
  const stats::Counters before = stats::snapshot();
  clone.materialize();
  source.materialize();
  const stats::Counters done = stats::snapshot() - before;
  EXPECT_EQ(done.copies, 1);
  EXPECT_EQ(done.bytes_copied, 64);
  EXPECT_EQ(done.steals, 1);
  device.run();
}

TEST(SubmittedCopies, say_why_they_are_made) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "nobody is told";
  }
  const std::vector<std::byte> lent(64, std::byte{7});
  for (const CopiesEnd copies_end : {CopiesEnd::later, CopiesEnd::in_order}) {
    QueuedDevice device(copies_end);
    std::vector<stats::CopyCause> causes;
    const stats::InstalledSink sink(
        [&causes](const stats::CopyEvent& event) { causes.push_back(event.cause); });
    const auto adopted = [&] {
      return Buffer::adopt_read_only(
          lent.data(), 64, [](void*) {}, device);
    };
    adopted().materialize();
    Buffer source = sevens(device);
    Buffer clone = source;
    clone.materialize();
    source.materialize(Wait::never);
    Buffer lent_to_two = adopted();
    const Buffer other = lent_to_two;
    lent_to_two.materialize();
    device.run();
    using enum stats::CopyCause;
    EXPECT_EQ(causes, copies_end == CopiesEnd::later
                          ? std::vector({read_only, shared, pending, shared})
                          : std::vector({read_only, shared, shared}));
  }
}

/// Nobody would wake a child of the process that waited for its parent's device.
TEST(SubmittedCopies, of_its_parent_are_not_waited_for_by_a_child_of_the_process) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = sevens(device);
  Buffer clone = source;
  clone.materialize();
  const ChildResult result = run_in_child(
      [&source](int) {
        if (source.materialize() != Materialized::copied) {
          throw std::runtime_error("the child did not copy");
        }
      },
      std::chrono::seconds(20));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
  device.run();
}

TEST(SubmittedCopies, of_storages_are_made_by_one_of_a_parallel_loop) {
  QueuedDevice device(CopiesEnd::in_order);
  Storage storage(sevens(device));
  const Storage clone = storage.lazy_clone();
  std::vector<std::thread> loop;
  std::atomic<int> copied = 0;
  for (int index = 0; index < 4; ++index) {
    loop.emplace_back(
        [&] { copied += storage.materialize_in_parallel() == Materialized::copied ? 1 : 0; });
  }
  for (std::thread& thread : loop) {
    thread.join();
  }
  EXPECT_EQ(copied, 1);
  device.run();
}

/// Owners of one buffer all write, while the device works: promise 3.
TEST(SubmittedCopies, are_one_less_than_writers) {
  for (const CopiesEnd copies_end : {CopiesEnd::later, CopiesEnd::in_order}) {
    for (int round = 0; round < 200; ++round) {
      constexpr int writers = 4;
      QueuedDevice device(copies_end);
      device.start();
      std::vector<Buffer> owners(writers, sevens(device));
      std::atomic<int> kept = 0;
      std::vector<std::thread> running;
      for (int index = 0; index < writers; ++index) {
        running.emplace_back([&, index] {
          Buffer& mine = owners[static_cast<std::size_t>(index)];
          kept += mine.materialize() == Materialized::copied ? 0 : 1;
          device.submit_fill(mine.mutable_data(), 10 + index, 32);
        });
      }
      for (std::thread& thread : running) {
        thread.join();
      }
      device.stop();
      EXPECT_EQ(kept, 1);
      for (int index = 0; index < writers; ++index) {
        const Buffer& mine = owners[static_cast<std::size_t>(index)];
        EXPECT_EQ(value_of(device, mine), 10 + index);
        const auto untouched = device.submit_read(mine.data() + 63);
        device.run();
        EXPECT_EQ(*untouched, 7);
      }
    }
  }
}

TEST(PendingCopies, are_ended_once) {
  int ends = 0;
  const auto count = [](void* counted) noexcept { ++*static_cast<int*>(counted); };
  {
    PendingCopy first(&ends, count);
    EXPECT_TRUE(first);
    PendingCopy second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT: what is moved from has none
    EXPECT_TRUE(second);
    EXPECT_EQ(ends, 0);
    second.end();
    EXPECT_EQ(ends, 1);
    second.end();
  }
  EXPECT_EQ(ends, 1);
  { const PendingCopy dropped(&ends, count); }
  EXPECT_EQ(ends, 2);
  PendingCopy forgotten(&ends, count);
  forgotten.forget();
  EXPECT_FALSE(forgotten);
  int others = 0;
  PendingCopy assigned(&others, count);
  assigned = PendingCopy(&ends, count);
  EXPECT_EQ(others, 1) << "what it was is ended";
  EXPECT_EQ(ends, 2);
  assigned.end();
  EXPECT_EQ(ends, 3) << "and then what it became";
  EXPECT_EQ(others, 1);
}

using SubmittedCopiesDeathTest = testing::Test;

TEST(SubmittedCopiesDeathTest, are_not_of_memory_that_the_host_addresses) {
  struct OfTheHost final : Allocator {
    OfTheHost() : Allocator(Device::cpu(), CopiesEnd::in_order) {}
    Block allocate(const Request&) override { return {}; }
    void deallocate(const Block&) noexcept override {}
    const char* name() const noexcept override { return "host"; }
  };
  EXPECT_DEATH(OfTheHost(), "copies of memory that the host addresses have to end on return");
}

}  // namespace
}  // namespace byre::test
