// SPDX-License-Identifier: BSL-1.0
/// How recordings report clones, copies, steals and waits with their causes.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"

namespace byre::test {
namespace {

TEST_F(Recordings, name_the_cloning_lines_latest_first_with_their_counts) {
  Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  std::vector<Buffer> clones;
  for (const std::uint32_t line : {1U, 2U, 1U, 3U, 4U, 1U, 5U, 6U}) {
    clones.push_back(clone(weights, line));
  }
  write(weights, 20);
  EXPECT_EQ(shown(recording, "copy"),
            "1: copy (shared) bytes=100 cloned_at=6,5,1 (3 times),4 copy=B data=A written_at=20"
            " <- 1: clone at 6\n");
}

TEST_F(Recordings, forget_cloning_lines_when_the_data_becomes_unique) {
  const std::byte one[1] = {};
  Buffer weights = Buffer::allocate(64);
  TiledBuffer table(64, aligned_allocator(), 64);
  table.write(0, one);
  TiledBuffer tiles(40 * 64, aligned_allocator(), 64);
  const trace::Recording recording;
  clone(weights, 1);
  table.lazy_clone(at_line(1));
  const Buffer snapshot = clone(weights, 2);
  const TiledBuffer snapshots[] = {table.lazy_clone(at_line(2)), table.lazy_clone(at_line(3))};
  write(weights, 20);
  table.mutable_tile(0, Wait::allowed, at_line(30));
  {
    const TiledBuffer old = tiles.lazy_clone(at_line(4));
    tiles.mutable_tile(0, Wait::allowed, at_line(40));
  }
  const TiledBuffer later = tiles.lazy_clone(at_line(5));
  tiles.mutable_tile(1, Wait::allowed, at_line(41));
  tiles.mutable_tile(35, Wait::allowed, at_line(42));
  std::string copies;
  for (const Json& copy : Events(recording).slices("copy (shared)")) {
    copies +=
        copy["args"]["written_at"].get<std::string>() + copy["args"]["cloned_at"].dump() + " ";
  }
  EXPECT_EQ(copies,
            "model.cpp:20[\"model.cpp:2\"] model.cpp:30[\"model.cpp:3\",\"model.cpp:2\"] "
            "model.cpp:40[\"model.cpp:4\"] model.cpp:41[\"model.cpp:5\"] "
            "model.cpp:42[\"model.cpp:5\"] ");
}

TEST_F(Recordings, forget_cloning_lines_of_a_storage_with_a_version) {
  Storage weights = Storage::allocate(64);
  const trace::Recording recording;
  weights.version();
  static_cast<void>(weights.lazy_clone(at_line(1)));
  const Storage snapshot = weights.lazy_clone(at_line(2));
  const Storage second = weights.lazy_clone(at_line(3));
  weights.mutable_data(Wait::allowed, at_line(20));
  EXPECT_EQ(shown(recording, "copy"),
            "1: copy (shared) bytes=64 cloned_at=3,2 copy=B data=A written_at=20"
            " <- 1: clone at 3\n");
}

TEST_F(Recordings, forget_cloning_lines_at_a_pin_of_a_storage_with_a_version) {
  Storage weights = Storage::allocate(64);
  const trace::Recording recording;
  weights.version();
  static_cast<void>(weights.lazy_clone(at_line(1)));
  const Pin reader = weights.pin_to_read(at_line(2));
  weights.mutable_data(Wait::allowed, at_line(20));
  EXPECT_EQ(shown(recording, "copy"),
            "1: copy (shared) bytes=64 cloned_at=2 copy=B data=A written_at=20"
            " <- 1: clone at 2\n");
}

/// Runs two rounds, which each clone data once, and expects that a recording numbers the data of
/// the two rounds differently.
template <class Round>
void expect_other_data_in_each(Round round) {
  const trace::Recording recording;
  round();
  round();
  const auto clones = Events(recording).slices("clone");
  EXPECT_NE(clones.at(0)["args"]["data"], clones.at(1)["args"]["data"]);
}

TEST_F(Recordings, distinguish_new_data_at_a_reused_address) {
  alignas(data_alignment) std::byte memory[data_alignment];
  const trace::Recording recording;
  std::uint32_t line = 0;
  expect_other_data_in_each([&] {
    Buffer weights = Buffer::adopt(memory, sizeof memory, [](void*) {});
    const Buffer snapshot = clone(weights, ++line);
    write(weights, 3);
  });
  EXPECT_TRUE(says(shown(recording, "copy"), "cloned_at=2 copy=D data=C"));
  RecyclingPool pool;
  expect_other_data_in_each([&] { clone(Buffer::allocate(1 << 20, pool), 1); });
  expect_other_data_in_each([] {
    TiledBuffer table(64, aligned_allocator(), 64);
    const std::byte one[1] = {};
    table.write(0, one);
    table.lazy_clone(at_line(1));
  });
}

TEST_F(Recordings, show_a_steal_with_its_wait_and_the_awaited_copy) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  std::optional<Buffer> snapshot = clone(weights, 1);  // made before the recording
  const trace::Recording recording;
  std::optional<Buffer> other = clone(weights, 2);
  wait_for_copy(
      allocator, [&] { write(*snapshot, 3); }, [&] { other.reset(); }, [&] { write(weights, 4); });
  weights.resize(100'000, at_line(5));
  EXPECT_EQ(shown(recording),
            "1: clone bytes=100 cloned_at=2 data=A\n"
            "2: copy (shared) bytes=100 cloned_at=2 copy=B data=A written_at=3 <- 1: clone at 2\n"
            "3: wait for a copy data=A waited_for=thread 2 at 3 written_at=4"
            " <- 2: copy (shared) at 3\n"
            "  3: steal bytes=100 cloned_at=2 data=A written_at=4\n"
            "1: copy (resized) bytes=100 copy=C data=A written_at=5\n");
}

TEST_F(Recordings, name_the_copy_that_a_parallel_loop_waited_for) {
  FailingAllocator allocator;
  std::string text;
  // Rounds are repeated until the second thread waits. In some rounds, the first thread's copy is
  // complete before the second thread could wait for it.
  for (int round = 0; text.find("wait") == std::string::npos; ++round) {
    ASSERT_LT(round, 100'000) << "no thread waited in any round";
    Storage storage = Storage::allocate(100, allocator);
    const Storage snapshot = storage.lazy_clone(at_line(1));
    const trace::Recording recording;
    Halt halt;
    allocator.halt_copy(halt);
    std::thread first([&] { storage.mutable_data_in_parallel(Wait::allowed, at_line(30)); });
    halt.await_entry();
    std::thread second([&] { storage.mutable_data_in_parallel(Wait::allowed, at_line(40)); });
    std::this_thread::yield();
    halt.let_go();
    first.join();
    second.join();
    storage.mutable_data_in_parallel(Wait::allowed, at_line(50));
    text = shown(recording);
    ASSERT_TRUE(text.starts_with("1: copy (shared) ")) << text;
  }
  EXPECT_EQ(text,
            "1: copy (shared) bytes=100 copy=A data=B written_at=30\n"
            "2: wait for a copy data=A waited_for=thread 1 at 30 written_at=40"
            " <- 1: copy (shared) at 30\n");
}

TEST_F(Recordings, name_no_copy_if_the_awaited_copy_failed) {
  need_threads();
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = clone(weights, 1);
  Buffer other = clone(weights, 1);
  const trace::Recording recording;
  write(other, 20);
  const Counted counted;
  std::thread waiter;
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    waiter = std::thread([&] { write(weights, 40); });
    await([&] { return counted.since().waits != 0; });
    throw FailingAllocator::CopyFailed();
  });
  EXPECT_THROW(write(snapshot, 30), FailingAllocator::CopyFailed);
  waiter.join();
  EXPECT_EQ(shown(recording, "wait"), "2: wait for a copy data=B written_at=40\n");
}

TEST_F(Recordings, name_the_line_that_cloned_all_tiles_at_each_tiles_copy) {
  TiledBuffer table(200 * 64, aligned_allocator(), 64);
  const std::byte one[1] = {};
  for (std::size_t tile = 0; tile < table.tile_count(); ++tile) {
    table.write(tile * 64, one);
  }
  const trace::Recording recording;
  const TiledBuffer snapshot = table.lazy_clone(at_line(1));
  table.mutable_tile(0, Wait::allowed, at_line(2));
  table.mutable_tile(63, Wait::allowed, at_line(3));  // the last tile of its node
  table.mutable_tile(150, Wait::allowed, at_line(4));
  EXPECT_EQ(shown(recording),
            "1: clone bytes=12800 cloned_at=1 data=A\n"
            "1: copy (shared) bytes=64 cloned_at=1 copy=B data=C written_at=2 <- 1: clone at 1\n"
            "1: copy (shared) bytes=64 cloned_at=1 copy=D data=E written_at=3 <- 1: clone at 1\n"
            "1: copy (shared) bytes=64 cloned_at=1 copy=F data=G written_at=4 <- 1: clone at 1\n");
}

TEST_F(Recordings, contain_the_events_between_begin_and_stop) {
  const Buffer weights = Buffer::allocate(100);
  const Buffer before = clone(weights, 1);
  trace::Recording outer;
  const Buffer first = clone(weights, 2);
  std::optional<trace::Recording> inner(std::in_place);
  const Buffer second = clone(weights, 3);
  inner->stop();
  const trace::Recording later;
  const Buffer third = clone(weights, 4);
  const auto lines = [](const trace::Recording& recording) {
    std::string text;
    for (const Json& each : Events(recording).slices("clone")) {
      text += each["tid"].dump() + each["args"]["cloned_at"][0].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(lines(*inner), "1model.cpp:3 ");
  EXPECT_EQ(lines(outer), "1model.cpp:2 1model.cpp:3 1model.cpp:4 ");
  outer.stop();
  outer.stop();
  const Buffer after = clone(weights, 5);
  inner.reset();
  EXPECT_EQ(lines(outer), "1model.cpp:2 1model.cpp:3 1model.cpp:4 ");
  EXPECT_EQ(Events(outer).of("M", "thread_name").size(), 1U);
  EXPECT_EQ(lines(later), "1model.cpp:4 1model.cpp:5 ");
  EXPECT_EQ(lines(trace::Recording()), "");
}

TEST_F(Recordings, have_separate_limits_and_count_lost_events) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording small(4096);
  for (int round = 0; round < 2; ++round) {
    const trace::Recording large(std::size_t{256} << 10);
    for (int time = 0; time < 1000; ++time) {
      clone(weights, 1);
    }
    EXPECT_EQ(Events(large).slices("clone").size(), 1000U);
    EXPECT_EQ(large.lost(), 0U);
  }
  const Events events(small);
  const std::size_t kept = events.slices("clone").size();
  EXPECT_GT(kept, 5U);
  EXPECT_LT(kept, 100U);
  EXPECT_EQ(small.lost(), 2000 - kept);
  EXPECT_EQ(events.whole()["otherData"]["lost_events"], 2000 - kept);
  EXPECT_TRUE(says(small.summary(), std::to_string(2000 - kept) + " events were lost."));
}

}  // namespace
}  // namespace byre::test
