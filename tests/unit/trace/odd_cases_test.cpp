// SPDX-License-Identifier: BSL-1.0
/// Recordings of copies that began earlier, of null data, and of nested writes; several at once, and in a child.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/detail/observer.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <boost/thread/thread.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/queued_device.hpp"

namespace byre::test {
namespace {

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

TEST_F(Recordings, show_a_copy_that_began_before_from_their_begin) {
  FailingAllocator allocator;
  elsewhere([&] { EXPECT_GE(copy_that_began_before(allocator)["ts"], 0); });
  const trace::Recording outer;
  const Json copied = copy_that_began_before(allocator);
  EXPECT_EQ(copied["ts"], 0);
  EXPECT_EQ(copied["args"]["written_at"], "model.cpp:1");
}

TEST_F(Recordings, leave_a_thread_its_row_if_a_second_one_begins) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording outer;
  const Buffer first = weights;
  const trace::Recording inner;
  const Buffer second = weights;
  const Events events(outer);
  EXPECT_EQ(events.of("M", "thread_name").size(), 1U);
  EXPECT_EQ(events.slices("clone").at(0)["tid"], events.slices("clone").at(1)["tid"]);
}

TEST_F(Recordings, are_asked_for_by_threads_while_there_is_one) {
  elsewhere([] {
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

TEST_F(Recordings, show_no_wait_of_a_write_before_them) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = weights;
  wait_for_copy(
      allocator, [&] { snapshot.mutable_data(); }, [] {},
      [&] {
        weights.mutable_data();  // waits, and is not recorded
        const trace::Recording recording;
        const Buffer clone = weights;
        weights.mutable_data();
        EXPECT_EQ(Events(recording).slices("copy (shared)").size(), 1U);
        EXPECT_TRUE(Events(recording).slices("wait for a copy").empty());
      });
}

TEST_F(Recordings, show_null_data_as_events_without_data) {
  const trace::Recording recording;
  Buffer adopted = Buffer::adopt(nullptr, 0, [](void*) {});
  const Buffer clone = adopted.lazy_clone(site(1));
  adopted.mutable_data(Wait::allowed, site(2));
  Buffer read_only = Buffer::adopt_read_only(nullptr, 0, [](const void*) {});
  read_only.mutable_data(Wait::allowed, site(3));
  const Buffer lent = Buffer::borrow(static_cast<void*>(nullptr), 0);
  const Buffer copy = lent.lazy_clone(site(4));
  const Storage storage =
      Storage(Buffer::adopt_aliased(static_cast<void*>(nullptr), 0, [](void*) {}));
  const Pin pin = storage.pin_to_read(site(5));
  const Events events(recording);
  EXPECT_FALSE(events.arguments("clone").contains("data"));
  EXPECT_EQ(events.arguments("copy (shared)")["written_at"], "model.cpp:2");
  EXPECT_EQ(events.arguments("copy (read_only)")["written_at"], "model.cpp:3");
  EXPECT_EQ(events.arguments("copy (borrowed)")["written_at"], "model.cpp:4");
}

TEST_F(Recordings, show_no_lines_for_unknown_call_sites) {
  Buffer weights = Buffer::allocate(64);
  const trace::Recording recording;
  const Buffer clone = weights.lazy_clone(CallSite{});
  weights.mutable_data(Wait::allowed, CallSite{});
  const Events events(recording);
  EXPECT_FALSE(events.arguments("clone").contains("cloned_at"));
  EXPECT_FALSE(events.arguments("copy (shared)").contains("cloned_at"));
  EXPECT_FALSE(events.arguments("copy (shared)").contains("written_at"));
}

TEST_F(Recordings, have_room_of_their_own_whatever_others_recorded) {
  const Buffer weights = Buffer::allocate(64);
  const trace::Recording outer(std::size_t{256} << 10);
  const auto clones_of = [](const trace::Recording& recording) {
    return Events(recording).slices("clone").size();
  };
  for (int round = 0; round < 4; ++round) {
    const trace::Recording inner(std::size_t{256} << 10);
    for (int time = 0; time < 1000; ++time) {
      const Buffer clone = weights;
    }
    EXPECT_EQ(clones_of(inner), 1000U);
    EXPECT_EQ(inner.lost(), 0U);
  }
  EXPECT_EQ(clones_of(outer) + outer.lost(), 4000U);
  EXPECT_GT(outer.lost(), 0U);
}

TEST_F(Recordings, are_whole_if_they_overlap) {
  const Buffer weights = Buffer::allocate(64);
  std::unique_ptr<trace::Recording> last;
  for (std::uint32_t round = 1; round <= 6; ++round) {
    auto next = std::make_unique<trace::Recording>(std::size_t{256} << 10);
    for (int time = 0; time < 1000; ++time) {
      const Buffer clone = weights.lazy_clone(site(round));
    }
    if (last != nullptr) {
      const auto clones = Events(*last).slices("clone");
      ASSERT_EQ(clones.size(), 2000U);
      EXPECT_EQ(clones.front()["args"]["cloned_at"][0], "model.cpp:" + std::to_string(round - 1));
      EXPECT_EQ(clones.back()["args"]["cloned_at"][0], "model.cpp:" + std::to_string(round));
    }
    last = std::move(next);
  }
}

TEST_F(Recordings, show_the_whole_of_a_copy_that_another_write_is_within) {
  FailingAllocator allocator;
  Buffer outer = Buffer::allocate(100, allocator);
  Buffer inner = Buffer::allocate(100);
  const Buffer clones[] = {outer, inner};
  const trace::Recording recording;
  allocator.during_copy([&] { inner.mutable_data(Wait::allowed, site(1)); });
  outer.mutable_data(Wait::allowed, site(2));
  const auto copies = Events(recording).slices("copy (shared)");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0]["args"]["written_at"], "model.cpp:1");
  EXPECT_LT(copies[1]["ts"], copies[0]["ts"]);
}

TEST_F(Recordings, show_a_write_after_one_that_failed_from_its_own_begin) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  const Buffer clone = weights;
  const trace::Recording recording;
  allocator.fail_copy(0);
  EXPECT_THROW(weights.mutable_data(), FailingAllocator::CopyFailed);
  const Buffer other = clone.lazy_clone(site(1));
  weights.mutable_data();
  const Events events(recording);
  EXPECT_GE(events.slices("copy (shared)").at(0)["ts"], events.slices("clone").at(0)["ts"]);
}

TEST_F(Recordings, name_the_clone_of_a_copy_by_a_last_owner_without_a_wait) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot;
  const trace::Recording recording;
  snapshot = weights.lazy_clone(site(1));
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    weights.mutable_data(Wait::never);
  });
  snapshot.mutable_data();
  Json copied = Events(recording).slices("copy (pending)").at(0);
  EXPECT_EQ(copied["args"]["cloned_at"], Json({"model.cpp:1"}));
}

#if BYRE_STATS  // else there is no recorder to call
TEST_F(Recordings, have_a_loop_thread_s_wait_for_one_that_stole) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer weights = Buffer::allocate(100, device);
  Buffer clone = weights;
  const trace::Recording recording;
  clone.mutable_data();
  stats::detail::WriteReport of_the_loop;
  of_the_loop.begin();
  EXPECT_EQ(weights.materialize(Wait::allowed, site(30)), Materialized::stole);
  of_the_loop.waited_in_parallel(weights.data(), site(40));
  const auto waits = Events(recording).slices("wait for a copy");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0]["args"]["written_at"], "model.cpp:40");
  device.run();
}
#endif

TEST_F(Recordings, name_no_clone_if_none_caused_the_copy) {
  const char memory[8] = {};
  Buffer grown = Buffer::allocate(8);
  Buffer read_only = Buffer::adopt_read_only(memory, sizeof memory, [](const void*) {});
  const trace::Recording recording;
  { const Buffer clones[] = {grown.lazy_clone(site(1)), read_only.lazy_clone(site(2))}; }
  grown.resize(100'000);
  read_only.mutable_data();
  const Events events(recording);
  EXPECT_FALSE(events.arguments("copy (resized)").contains("cloned_at"));
  EXPECT_FALSE(events.arguments("copy (read_only)").contains("cloned_at"));
  EXPECT_TRUE(events.of("s", "cloned").empty());
}

TEST_F(Recordings, forget_the_lines_of_clones_of_tiles_that_are_gone) {
  TiledBuffer table(40 * 64, aligned_allocator(), 64);
  const trace::Recording recording;
  {
    const TiledBuffer old = table.lazy_clone(site(1));
    table.mutable_tile(0);
  }
  const TiledBuffer snapshot = table.lazy_clone(site(2));
  table.mutable_tile(1);
  table.mutable_tile(35);
  const auto copies = Events(recording).slices("copy (shared)");
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_EQ(copies[0]["args"]["cloned_at"], Json({"model.cpp:1"}));
  EXPECT_EQ(copies[1]["args"]["cloned_at"], Json({"model.cpp:2"}));
  EXPECT_EQ(copies[2]["args"]["cloned_at"], Json({"model.cpp:2"}));
}

TEST_F(Recordings, have_names_that_are_no_text_as_text) {
  const Buffer weights = Buffer::allocate(64);
  const trace::Recording recording;
  elsewhere([&] {
    ::pthread_setname_np(::pthread_self(), "w\xC3\xA9 \xC3 \xE0\x80\x80 \xFF");
    const Buffer clone = weights;
  });
  const std::string name = Events(recording).of("M", "thread_name").at(0)["args"]["name"];
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_TRUE(name.starts_with("w\xC3\xA9 " + replaced + " " + replaced + replaced + replaced +
                               " " + replaced + " ("))
      << name;
}

TEST_F(Recordings, count_in_a_child_from_what_it_has) {
  const std::size_t nbytes = std::size_t{1} << 20;
  Buffer before = Buffer::allocate(nbytes);
  const trace::Recording recording;
  std::optional<Buffer> freed = Buffer::allocate(nbytes);
  const ChildResult result = run_in_child(
      [&](int output) {
        freed.reset();
        const Buffer clone = before;
        const stats::Counters now = stats::snapshot();
        const Events events(recording);
        const auto live = events.values("live bytes");
        const auto pooled = events.values("pooled bytes");
        const auto threads = events.of("M", "thread_name");
        const bool is_right = live.back() == now.live_bytes &&
                              live.front() == now.live_bytes + static_cast<std::int64_t>(nbytes) &&
                              pooled.back() == now.pooled_bytes && threads.size() == 1 &&
                              threads[0]["args"]["name"].get<std::string>().ends_with(
                                  "(" + std::to_string(::getpid()) + ")") &&
                              events.all().back()["ts"] >= 0;
        write_all(output, is_right ? "right" : events.whole().dump());
      },
      std::chrono::seconds(60));
  EXPECT_EQ(result.output, "right");
}

}  // namespace
}  // namespace byre::test
