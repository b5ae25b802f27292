// SPDX-License-Identifier: BSL-1.0
/// What a recording makes of what began before it, and what there is where there is no recording.
#include <byre/byre.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/recording.hpp>

#include <gtest/gtest.h>
#include <boost/thread/thread.hpp>

#include <optional>
#include <string>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

class Beginnings : public WithStats {};

/// The one copy that a recording has which began while the copy was made.
Json copy_that_began_before(FailingAllocator& allocator) {
  Buffer weights = Buffer::allocate(100, allocator);
  const Buffer snapshot = weights;
  std::optional<trace::Recording> recording;
  allocator.during_copy([&] { recording.emplace(); });
  weights.mutable_data(Wait::allowed, site(1));
  allocator.during_copy(nullptr);
  return Events(*recording).slices("copy (shared)").at(0);
}

TEST_F(Beginnings, of_a_copy_before_a_recording_are_shown_where_that_begins) {
  FailingAllocator allocator;
  elsewhere([&] { EXPECT_GE(copy_that_began_before(allocator)["ts"], 0); });
  const trace::Recording outer;
  const Json copied = copy_that_began_before(allocator);
  EXPECT_EQ(copied["ts"], 0);
  EXPECT_EQ(copied["args"]["written_at"], "model.cpp:1");
}

TEST_F(Beginnings, of_a_second_recording_leave_a_thread_its_row) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording outer;
  const Buffer first = weights;
  const trace::Recording inner;
  const Buffer second = weights;
  const Events events(outer);
  EXPECT_EQ(events.of("M", "thread_name").size(), 1U);
  EXPECT_EQ(events.slices("clone").at(0)["tid"], events.slices("clone").at(1)["tid"]);
}

TEST_F(Beginnings, of_threads_without_a_recording_lose_nothing) {
  const Buffer weights = Buffer::allocate(100);
  elsewhere([&] { const Buffer clone = weights; });
  const trace::Recording recording;
  EXPECT_EQ(recording.lost(), 0U);
}

TEST_F(Beginnings, and_ends_of_recordings_are_when_threads_ask_for_one) {
  elsewhere([] {
    Buffer::allocate(100);
    EXPECT_FALSE(stats::detail::may_record());
    {
      const trace::Recording recording;
      EXPECT_TRUE(stats::detail::may_record());
    }
    EXPECT_FALSE(stats::detail::may_record());
  });
}

TEST_F(Beginnings, of_a_write_are_after_the_waits_of_those_before) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = weights;
  Halt halt;
  allocator.halt_copy(halt);
  boost::thread copier([&] { snapshot.mutable_data(); });
  halt.await_entry();
  const Counted counted;
  boost::thread waiter([&] {
    weights.mutable_data();  // waits, and is not recorded
    const trace::Recording recording;
    const Buffer clone = weights;
    weights.mutable_data();
    EXPECT_EQ(Events(recording).slices("copy (shared)").size(), 1U);
    EXPECT_TRUE(Events(recording).slices("wait for a copy").empty());
  });
  await([&] { return counted.since().waits != 0; });
  halt.let_go();
  copier.join();
  waiter.join();
}

}  // namespace
}  // namespace byre::test
