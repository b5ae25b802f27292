// SPDX-License-Identifier: BSL-1.0
/// Recordings of copies that began before the recording, of copies submitted to a device, of null
/// data, of nested writes, and of many threads.
#include <byre/byre.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/queued_device.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

/// Makes a copy during which a recording begins. Returns the copy that the recording reports.
Json copy_that_began_before(FailingAllocator& allocator) {
  Buffer weights = Buffer::allocate(100, allocator);
  const Buffer snapshot = weights;
  std::optional<trace::Recording> recording;
  allocator.during_copy([&] { recording.emplace(); });
  weights.mutable_data(Wait::allowed, at_line(1));
  allocator.during_copy(nullptr);
  EXPECT_EQ(shown(*recording, "wait"), "");
  return Events(*recording).slices("copy (shared)").at(0);
}

TEST_F(Recordings, clip_a_copy_that_began_before_them_to_their_begin) {
  FailingAllocator allocator;
  on_another_thread([&] { EXPECT_GE(copy_that_began_before(allocator)["ts"], 0); });
  const trace::Recording outer;
  const Json copied = copy_that_began_before(allocator);
  EXPECT_EQ(copied["ts"], 0);
  EXPECT_EQ(copied["args"]["written_at"], "model.cpp:1");
}

TEST_F(Recordings, set_may_record_only_while_they_are_active) {
  on_another_thread([] {
    Buffer::allocate(100);
    EXPECT_EQ(trace::Recording().lost(), 0U);
    EXPECT_FALSE(stats::detail::may_record());
    {
      const trace::Recording recording;
      EXPECT_TRUE(stats::detail::may_record());
    }
    EXPECT_FALSE(stats::detail::may_record());
  });
}

TEST_F(Recordings, show_no_wait_that_ended_before_the_recording) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = weights;
  wait_for_copy(
      allocator, [&] { snapshot.mutable_data(); }, [] {},
      [&] {
        weights.mutable_data();  // this wait is not recorded
        copy_that_began_before(allocator);
        const trace::Recording recording;
        const Buffer clone = weights;
        weights.mutable_data();
        EXPECT_EQ(Events(recording).slices("copy (shared)").size(), 1U);
        EXPECT_TRUE(Events(recording).slices("wait for a copy").empty());
      });
}

TEST_F(Recordings, show_events_of_null_pointers_without_a_data_number) {
  const trace::Recording recording;
  Buffer adopted = Buffer::adopt(nullptr, 0, [](void*) {});
  const Buffer clone = adopted.lazy_clone(at_line(1));
  adopted.mutable_data(Wait::allowed, at_line(2));
  Buffer read_only = Buffer::adopt_read_only(nullptr, 0, [](const void*) {});
  read_only.mutable_data(Wait::allowed, at_line(3));
  const Buffer lent = Buffer::borrow(static_cast<void*>(nullptr), 0);
  const Buffer copy = lent.lazy_clone(at_line(4));
  const Storage storage =
      Storage(Buffer::adopt_aliased(static_cast<void*>(nullptr), 0, [](void*) {}));
  const Pin pin = storage.pin_to_read(at_line(5));
  EXPECT_EQ(shown(recording),
            "1: clone bytes=0 cloned_at=1\n"
            "1: copy (shared) bytes=0 copy=A written_at=2\n"
            "1: copy (read_only) bytes=0 copy=B written_at=3\n"
            "1: copy (borrowed) bytes=0 copy=C written_at=4\n");
}

TEST_F(Recordings, show_a_copy_made_during_another_copy_as_nested) {
  FailingAllocator allocator;
  Buffer outer = Buffer::allocate(100, allocator);
  Buffer inner = Buffer::allocate(100);
  const Buffer clones[] = {outer, inner};
  const trace::Recording recording;
  allocator.during_copy([&] { inner.mutable_data(Wait::allowed, at_line(1)); });
  outer.mutable_data(Wait::allowed, at_line(2));
  EXPECT_EQ(shown(recording),
            "1: copy (shared) bytes=100 copy=A data=B written_at=2\n"
            "  1: copy (shared) bytes=100 copy=C data=D written_at=1\n");
}

TEST_F(Recordings, name_the_cloning_lines_of_a_copy_with_cause_pending) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot;
  const Recorder recorder;
  const trace::Recording recording;
  snapshot = weights.lazy_clone(at_line(1));
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    weights.mutable_data(Wait::never);
  });
  snapshot.mutable_data();
  ASSERT_EQ(recorder.events().size(), 2U);
  EXPECT_EQ(recorder.events()[0].cause, stats::CopyCause::pending);
  EXPECT_EQ(recorder.events()[1].cause, stats::CopyCause::shared);
  EXPECT_TRUE(says(shown(recording, "copy (pending)"), "cloned_at=1"));
}

TEST_F(Recordings, show_waits_of_parallel_loops_for_steals_and_overlays) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer weights = Buffer::allocate(100, device);
  Buffer clone = weights;
  const trace::Recording recording;
  clone.mutable_data();
  stats::detail::WriteReport report;
  report.begin();
  EXPECT_EQ(weights.materialize(Wait::allowed, at_line(30)), Materialized::stole);
  report.waited_in_parallel(weights.data(), at_line(40));
  stats::detail::WriteReport().waited_in_parallel(weights.data(), at_line(50));
  EXPECT_TRUE(says(shown(recording, "wait"), "written_at=40"));
  EXPECT_FALSE(says(shown(recording, "wait"), "written_at=50"))
      << "expected no wait for a report without begin()";

  Buffer paged = Buffer::allocate(least_paged_nbytes, paged_allocator());
  const Buffer shown_by_an_overlay = paged;
  report.begin();
  paged.mutable_data();
  report.waited_in_parallel(paged.data(), at_line(60));
  EXPECT_TRUE(says(shown(recording, "wait"), "written_at=60"));
  device.run();
}

TEST_F(Recordings, show_a_submitted_copy_and_the_wait_for_it) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = Buffer::allocate(64, device);
  const trace::Recording recording;
  Buffer clone = source.lazy_clone(at_line(10));
  clone.materialize(Wait::allowed, at_line(20));
  const Counted counted;
  std::thread other([&] {
    await([&] { return counted.since().waits != 0; });
    device.run();
  });
  source.materialize(Wait::allowed, at_line(30));
  other.join();
  EXPECT_EQ(shown(recording),
            "1: clone bytes=64 cloned_at=10 data=A\n"
            "1: copy (shared) bytes=64 cloned_at=10 copy=B data=A written_at=20"
            " <- 1: clone at 10\n"
            "1: wait for a copy data=A written_at=30\n"
            "  1: steal bytes=64 cloned_at=10 data=A written_at=30\n");
}

/// A thread's work: clones and writes buffers at random. At the beginning, all buffers share the
/// data of `shared`.
void work(const Buffer& shared, std::uint64_t seed) {
  Random random(seed);
  std::vector<Buffer> owned(4, shared);
  for (int step = 0; step < 300; ++step) {
    Buffer& one = owned[random.below(owned.size())];
    if (random.below(2) == 0) {
      one = owned[random.below(owned.size())];
    } else {
      one.mutable_data();
    }
  }
}

TEST_F(Recordings, lose_no_event_of_many_threads) {
  const std::uint64_t from = seed();
  const Buffer shared = Buffer::allocate(4096);
  const Counted counted;
  const trace::Recording recording;
  at_once(4, [&](std::size_t thread) { work(shared, from + thread); });
  const stats::Counters since = counted.since();
  const Events events(recording);
  EXPECT_EQ(static_cast<std::int64_t>(events.slices("clone").size()), since.lazy_clones);
  EXPECT_EQ(static_cast<std::int64_t>(events.slices("copy (shared)").size()), since.copies);
  EXPECT_EQ(static_cast<std::int64_t>(events.slices("steal").size()), since.steals);
  EXPECT_EQ(events.values("bytes copied").back(), since.bytes_copied);
  EXPECT_EQ(events.of("M", "thread_name").size(), 4U);
  EXPECT_EQ(recording.lost(), 0U);
}

TEST_F(Recordings, are_complete_while_other_recordings_begin_and_stop) {
  const std::uint64_t from = seed();
  const Buffer shared = Buffer::allocate(4096);
  at_once(4, [&](std::size_t thread) {
    if (thread < 2) {
      work(shared, from + thread);
      return;
    }
    for (int round = 0; round < 10; ++round) {
      trace::Recording recording;
      const Buffer clone = shared.lazy_clone(at_line(static_cast<std::uint32_t>(thread)));
      const auto own = [&] {
        int count = 0;
        for (const Json& each : Events(recording).slices("clone")) {
          count += each["args"]["cloned_at"][0] == "model.cpp:" + std::to_string(thread);
        }
        return count;
      };
      EXPECT_EQ(own(), 1);
      recording.stop();
      EXPECT_EQ(own(), 1);
    }
  });
}

}  // namespace
}  // namespace byre::test
