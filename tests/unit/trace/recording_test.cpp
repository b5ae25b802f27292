// SPDX-License-Identifier: BSL-1.0
/// What a recording says of clones, copies, steals and waits, and of why they were.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <boost/thread/thread.hpp>

#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/queued_device.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

Buffer clone(const Buffer& buffer, std::uint32_t line) {
  return buffer.lazy_clone(site(line));
}

void write(Buffer& buffer, std::uint32_t line) {
  buffer.mutable_data(Wait::allowed, site(line));
}

void expect_inside(const Json& end_of_arrow, const Json& slice) {
  EXPECT_EQ(end_of_arrow["tid"], slice["tid"]);
  EXPECT_GE(end_of_arrow["ts"], slice["ts"]);
  EXPECT_LT(end_of_arrow["ts"].get<double>(),
            slice["ts"].get<double>() + slice["dur"].get<double>());
}

TEST(RecordingsWithoutStats, are_refused) {
  if (BYRE_STATS) {
    GTEST_SKIP() << "built with stats";
  }
  EXPECT_EQ(complaint_of<InvalidArgument>([] { const trace::Recording recording; }),
            "a recording was asked for, and this byre was built without stats and does not know "
            "what happens. Configure it with -Dstats=enabled.");
}

TEST_F(Recordings, have_the_cause_of_a_copy_and_both_its_lines) {
  Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  const Buffer snapshot = clone(weights, 10);
  write(weights, 20);
  const Events events(recording);

  const auto clones = events.slices("clone");
  ASSERT_EQ(clones.size(), 1U);
  EXPECT_EQ(clones[0]["args"]["bytes"], 100);
  EXPECT_EQ(clones[0]["args"]["cloned_at"], Json({"model.cpp:10"}));
  const auto copies = events.slices("copy (shared)");
  ASSERT_EQ(copies.size(), 1U);
  const Json& arguments = copies[0]["args"];
  EXPECT_EQ(arguments["bytes"], 100);
  EXPECT_EQ(arguments["written_at"], "model.cpp:20");
  EXPECT_EQ(arguments["cloned_at"], Json({"model.cpp:10"}));
  EXPECT_EQ(arguments["data"], clones[0]["args"]["data"]);
  EXPECT_NE(arguments["copy"], arguments["data"]);
  EXPECT_GE(copies[0]["ts"], clones[0]["ts"]);
}

TEST_F(Recordings, lead_from_the_clone_to_the_copy_by_an_arrow) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  Buffer snapshot = clone(weights, 10);
  elsewhere([&] { write(snapshot, 20); });
  const Events events(recording);

  const Json from = events.of("s", "cloned").at(0);
  const Json to = events.of("f", "cloned").at(0);
  const Json cloned = events.slices("clone").at(0);
  const Json copied = events.slices("copy (shared)").at(0);
  EXPECT_EQ(from["id"], to["id"]);
  EXPECT_EQ(to["bp"], "e");
  EXPECT_NE(from["tid"], to["tid"]);
  expect_inside(from, cloned);
  expect_inside(to, copied);
}

TEST_F(Recordings, name_the_lines_that_cloned_the_latest_first_and_how_often) {
  Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  std::vector<Buffer> clones;
  for (const std::uint32_t line : {1U, 2U, 1U, 3U, 4U, 1U, 5U, 6U}) {
    clones.push_back(clone(weights, line));
  }
  write(weights, 20);
  EXPECT_EQ(Events(recording).arguments("copy (shared)")["cloned_at"],
            Json({"model.cpp:6", "model.cpp:5", "model.cpp:1 (3 times)", "model.cpp:4"}));
}

TEST_F(Recordings, forget_lines_once_one_owner_has_the_data_alone) {
  const std::byte one[1] = {};
  Buffer weights = Buffer::allocate(64);
  TiledBuffer table(4 * 64, aligned_allocator(), 64);
  table.write(0, one);
  const trace::Recording recording;
  clone(weights, 1);
  table.lazy_clone(site(1));
  const Buffer snapshot = clone(weights, 2);
  const TiledBuffer tiles[] = {table.lazy_clone(site(2)), table.lazy_clone(site(3))};
  write(weights, 20);
  table.mutable_tile(0, Wait::allowed, site(4));
  const Events events(recording);
  EXPECT_EQ(events.arguments("copy (shared)", 0)["cloned_at"], Json({"model.cpp:2"}));
  EXPECT_EQ(events.arguments("copy (shared)", 1)["cloned_at"],
            Json({"model.cpp:3", "model.cpp:2"}));
}

/// The numbers of the data of the clones that two rounds make.
template <class Round>
void expect_other_data_in_each(Round round) {
  const trace::Recording recording;
  round();
  round();
  const Events events(recording);
  EXPECT_NE(events.arguments("clone", 0)["data"], events.arguments("clone", 1)["data"]);
}

TEST_F(Recordings, tell_new_data_at_an_old_address_from_the_old) {
  alignas(data_alignment) std::byte memory[data_alignment];
  const trace::Recording recording;
  std::uint32_t line = 0;
  expect_other_data_in_each([&] {
    Buffer weights = Buffer::adopt(memory, sizeof memory, [](void*) {});
    const Buffer snapshot = clone(weights, ++line);
    write(weights, 3);
  });
  EXPECT_EQ(Events(recording).arguments("copy (shared)", 1)["cloned_at"], Json({"model.cpp:2"}));
  RecyclingPool pool;
  expect_other_data_in_each([&] { clone(Buffer::allocate(1 << 20, pool), 1); });
  expect_other_data_in_each([] {
    TiledBuffer table(64, aligned_allocator(), 64);
    const std::byte one[1] = {};
    table.write(0, one);
    table.lazy_clone(site(1));
  });
}

TEST_F(Recordings, forget_lines_when_the_last_owner_steals) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  std::optional<Buffer> snapshot = clone(weights, 1);  // before
  const trace::Recording recording;
  std::optional<Buffer> other = clone(weights, 2);
  wait_for_copy(
      allocator, [&] { write(*snapshot, 3); }, [&] { other.reset(); }, [&] { write(weights, 4); });
  const Json stolen = Events(recording).arguments("steal");
  EXPECT_EQ(stolen["written_at"], "model.cpp:4");
  EXPECT_EQ(stolen["bytes"], 100);
  EXPECT_EQ(stolen["cloned_at"], Json({"model.cpp:2"}));
  weights.resize(100'000, site(5));
  EXPECT_FALSE(Events(recording).arguments("copy (resized)").contains("cloned_at"));
  EXPECT_EQ(Events(recording).of("s", "cloned").size(), 1U);
}

TEST_F(Recordings, name_what_a_wait_was_for) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = clone(weights, 1);
  const trace::Recording recording;
  wait_for_copy(
      allocator, [&] { write(snapshot, 30); }, [] {}, [&] { write(weights, 40); });
  const Events events(recording);
  const Json waited = events.slices("wait for a copy").at(0);
  const Json copied = events.slices("copy (shared)").at(0);
  const Json stolen = events.slices("steal").at(0);
  EXPECT_EQ(waited["args"]["written_at"], "model.cpp:40");
  EXPECT_EQ(waited["args"]["waited_for"], "thread " + copied["tid"].dump() + " at model.cpp:30");
  EXPECT_EQ(waited["args"]["data"], copied["args"]["data"]);
  EXPECT_EQ(waited["tid"], stolen["tid"]);
  EXPECT_NE(waited["tid"], copied["tid"]);
  expect_inside(events.of("s", "waited for").at(0), copied);
  expect_inside(events.of("f", "waited for").at(0), waited);
  EXPECT_EQ(events.slices("wait for a copy").size(), 1U);
}

TEST_F(Recordings, name_what_a_thread_of_a_parallel_loop_waited_for) {
  FailingAllocator allocator;
  Json waited;
  Json copied;
  while (waited.is_null()) {  // a thread may be late, and have nothing to wait for
    Storage storage = Storage::allocate(100, allocator);
    const Storage snapshot = storage.lazy_clone(site(1));
    const trace::Recording recording;
    Halt halt;
    allocator.halt_copy(halt);
    boost::thread first([&] { storage.mutable_data_in_parallel(Wait::allowed, site(30)); });
    halt.await_entry();
    boost::thread second([&] { storage.mutable_data_in_parallel(Wait::allowed, site(40)); });
    boost::this_thread::yield();
    halt.let_go();
    first.join();
    second.join();
    storage.mutable_data_in_parallel(Wait::allowed, site(50));
    const Events events(recording);
    copied = events.slices("copy (shared)").at(0);
    const auto waits = events.slices("wait for a copy");
    ASSERT_LE(waits.size(), 1U);
    if (!waits.empty()) {
      waited = waits[0];
      expect_inside(events.of("s", "waited for").at(0), copied);
    }
  }
  EXPECT_EQ(waited["args"]["written_at"], "model.cpp:40");
  EXPECT_EQ(waited["args"]["waited_for"], "thread " + copied["tid"].dump() + " at model.cpp:30");
  EXPECT_EQ(waited["args"]["data"], copied["args"]["copy"]);
  EXPECT_NE(waited["tid"], copied["tid"]);
}

TEST_F(Recordings, name_nothing_where_the_copy_that_was_waited_for_failed) {
  FailingAllocator allocator;
  Buffer weights = Buffer::allocate(100, allocator);
  Buffer snapshot = clone(weights, 1);
  Buffer other = clone(weights, 1);
  const trace::Recording recording;
  write(other, 20);
  const Counted counted;
  boost::thread waiter;
  allocator.during_copy([&] {
    allocator.during_copy(nullptr);
    waiter = boost::thread([&] { write(weights, 40); });
    await([&] { return counted.since().waits != 0; });
    throw FailingAllocator::CopyFailed();
  });
  EXPECT_THROW(write(snapshot, 30), FailingAllocator::CopyFailed);
  waiter.join();
  const Json waited = Events(recording).slices("wait for a copy").at(0);
  EXPECT_FALSE(waited["args"].contains("waited_for"));
  EXPECT_TRUE(Events(recording).of("s", "waited for").empty());
}

TEST_F(Recordings, have_the_cause_of_copies_that_nobody_shared) {
  char lent[8] = {};
  Buffer borrowed = Buffer::borrow(lent, sizeof lent);
  Buffer read_only = Buffer::borrow(static_cast<const void*>(lent), sizeof lent);
  Buffer grown = Buffer::allocate(8);
  Storage storage = Storage::allocate(8);
  Buffer first = Buffer::allocate(8);
  const Buffer other = first;
  const trace::Recording recording;
  write(first, 6);
  clone(borrowed, 1);
  write(read_only, 2);
  grown.resize(100'000, site(3));
  const Pin pin = storage.pin(Wait::allowed, site(4));
  const Storage copy = storage.lazy_clone(site(5));
  const Events events(recording);
  EXPECT_EQ(events.arguments("copy (borrowed)")["written_at"], "model.cpp:1");
  EXPECT_EQ(events.arguments("copy (read_only)")["written_at"], "model.cpp:2");
  const Json resized = events.slices("copy (resized)").at(0);
  EXPECT_EQ(resized["args"]["written_at"], "model.cpp:3");
  EXPECT_EQ(resized["args"]["bytes"], 8);
  const Json pinned = events.slices("copy (pinned)").at(0);
  EXPECT_EQ(pinned["args"]["written_at"], "model.cpp:5");
  EXPECT_FALSE(pinned["args"].contains("cloned_at"));
  double end = 0;
  for (const char* const cause : {"shared", "borrowed", "read_only", "resized", "pinned"}) {
    const Json copied = events.slices(std::string("copy (") + cause + ")").at(0);
    EXPECT_GE(copied["ts"].get<double>() + 0.0001, end) << cause;
    end = copied["ts"].get<double>() + copied["dur"].get<double>();
  }
}

TEST_F(Recordings, name_sharing_as_the_cause_of_a_copy_of_read_only_data) {
  const char memory[8] = {};
  Buffer weights = Buffer::adopt_read_only(memory, sizeof memory, [](const void*) {});
  const trace::Recording recording;
  Buffer snapshot = clone(weights, 1);
  write(snapshot, 2);
  write(weights, 3);
  const Events events(recording);
  EXPECT_EQ(events.arguments("copy (shared)")["written_at"], "model.cpp:2");
  EXPECT_EQ(events.arguments("copy (read_only)")["written_at"], "model.cpp:3");
}

TEST_F(Recordings, know_the_line_that_cloned_all_tiles_of_each_tile) {
  TiledBuffer table(200 * 64, aligned_allocator(), 64);
  const std::byte one[1] = {};
  for (std::size_t tile = 0; tile < table.tile_count(); ++tile) {
    table.write(tile * 64, one);
  }
  const trace::Recording recording;
  const TiledBuffer snapshot = table.lazy_clone(site(1));
  table.mutable_tile(0, Wait::allowed, site(2));
  table.mutable_tile(63, Wait::allowed, site(3));  // the last of its node
  table.mutable_tile(150, Wait::allowed, site(4));
  const Events events(recording);
  EXPECT_EQ(events.slices("clone").size(), 1U);
  EXPECT_EQ(events.arguments("clone")["bytes"], 200 * 64);
  const auto copies = events.slices("copy (shared)");
  ASSERT_EQ(copies.size(), 3U);
  for (std::uint32_t copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(copies[copy]["args"]["bytes"], 64);
    EXPECT_EQ(copies[copy]["args"]["written_at"], "model.cpp:" + std::to_string(copy + 2));
    EXPECT_EQ(copies[copy]["args"]["cloned_at"], Json({"model.cpp:1"}));
    const Json from = events.of("s", "cloned").at(copy);
    expect_inside(from, events.slices("clone").at(0));
    EXPECT_EQ(from["id"], copy + 1);
  }
}

TEST_F(Recordings, have_what_happened_while_they_were_on) {
  Buffer weights = Buffer::allocate(100);
  const Buffer before = clone(weights, 1);
  trace::Recording outer;
  const Buffer first = clone(weights, 2);
  std::optional<trace::Recording> inner(std::in_place);
  const Buffer second = clone(weights, 3);
  inner->stop();
  const Buffer third = clone(weights, 4);
  const auto lines = [](const trace::Recording& recording) {
    std::string text;
    for (const Json& each : Events(recording).slices("clone")) {
      text += each["args"]["cloned_at"][0].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(lines(*inner), "model.cpp:3 ");
  EXPECT_EQ(lines(outer), "model.cpp:2 model.cpp:3 model.cpp:4 ");
  outer.stop();
  outer.stop();
  const Buffer after = clone(weights, 5);
  inner.reset();
  EXPECT_EQ(lines(outer), "model.cpp:2 model.cpp:3 model.cpp:4 ");
  const trace::Recording later;
  EXPECT_EQ(lines(later), "");
}

TEST_F(Recordings, count_what_they_had_no_room_for) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording recording(4096);
  for (int index = 0; index < 1000; ++index) {
    clone(weights, 1);
  }
  const std::size_t kept = Events(recording).slices("clone").size();
  EXPECT_GT(kept, 5U);
  EXPECT_LT(kept, 100U);
  EXPECT_EQ(recording.lost(), 1000 - kept);
  EXPECT_EQ(Events(recording).whole()["otherData"]["lost_events"], 1000 - kept);
  EXPECT_TRUE(says(recording.summary(), std::to_string(1000 - kept) + " events are lost."));
}

TEST_F(Recordings, name_their_threads) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  clone(weights, 1);
  elsewhere([&] {
    ::pthread_setname_np(::pthread_self(), "a cloner");
    clone(weights, 2);
  });
  const Events events(recording);
  const auto clones = events.slices("clone");
  ASSERT_EQ(clones.size(), 2U);
  std::map<int, std::string> names;
  for (const Json& name : events.of("M", "thread_name")) {
    names[name["tid"]] = name["args"]["name"];
  }
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[clones[1]["tid"]].starts_with("a cloner (")) << names[clones[1]["tid"]];
  EXPECT_FALSE(names[clones[0]["tid"]].starts_with("a cloner"));
#if defined(__linux__)
  EXPECT_TRUE(names[clones[0]["tid"]].ends_with(" (" + std::to_string(::getpid()) + ")"))
      << names[clones[0]["tid"]];
#endif
  for (const Json& index : events.of("M", "thread_sort_index")) {
    EXPECT_EQ(index["args"]["sort_index"], index["tid"]);
  }
  EXPECT_EQ(events.of("M", "thread_sort_index").size(), 2U);
  EXPECT_EQ(events.of("M", "process_name").at(0)["pid"], clones[0]["pid"]);
  EXPECT_NE(events.of("M", "process_name").at(0)["args"]["name"], "");
  EXPECT_EQ(events.whole()["otherData"]["byre"], BYRE_VERSION_STRING);
}

TEST_F(Recordings, sum_copies_up_by_their_lines_for_people) {
  const trace::Recording recording;
  Buffer weights = Buffer::allocate(100);
  for (int step = 0; step < 3; ++step) {
    const Buffer snapshot = clone(weights, 10);
    write(weights, 20);
  }
  Buffer large = Buffer::allocate(1000);
  const Buffer other = clone(large, 11);
  write(large, 21);
  const std::string summary = recording.summary();
  EXPECT_TRUE(
      summary.starts_with("byre: trace: 4 lazy clones of 1300 bytes, 4 copies of 1300 "
                          "bytes, 0 steals of 0 bytes; 0 waits for copies, 0 us in all; "
                          "0 pins; "))
      << summary;
  EXPECT_TRUE(
      summary.ends_with("\n\n1. 1 copy of 1000 bytes (shared)\n"
                        "  written at model.cpp:21\n"
                        "  cloned at model.cpp:11\n"
                        "\n2. 3 copies of 300 bytes (shared)\n"
                        "  written at model.cpp:20\n"
                        "  cloned at model.cpp:10\n"))
      << summary;
}

TEST_F(Recordings, are_written_as_a_trace_or_as_a_text) {
  const TemporaryFolder folder;
  trace::Recording recording;
  recording.stop();
  recording.write(folder / "a.json");
  recording.write(folder / "a.txt");
  EXPECT_EQ(read_file(folder / "a.json"), recording.to_json());
  EXPECT_EQ(read_file(folder / "a.txt"), recording.summary());
  EXPECT_THROW(recording.write(folder / "none" / "a.json"), FileError);
}

TEST_F(Recordings, let_explain_name_who_shares_the_data) {
  const Buffer weights = Buffer::allocate(100);
  const Buffer before = clone(weights, 1);
  EXPECT_FALSE(says(explain(weights), "cloned at"));
  std::optional<trace::Recording> recording(std::in_place);
  const Buffer first = clone(weights, 2);
  const Buffer second = clone(weights, 3);
  const Buffer third = clone(weights, 2);
  EXPECT_TRUE(says(explain(weights),
                   "shared by 5 owners, cloned at model.cpp:2 (2 times) and model.cpp:3: a write "
                   "copies them."))
      << explain(weights);
  const Buffer own = Buffer::allocate(100);
  clone(own, 4);
  EXPECT_FALSE(says(explain(own), "cloned at"));
  const Buffer somewhere = own.lazy_clone(CallSite{});
  EXPECT_FALSE(says(explain(own), "cloned at"));
  recording.reset();
  EXPECT_FALSE(says(explain(weights), "cloned at"));
}

TEST_F(Recordings, have_submitted_copies_and_steals_beside_them) {
  QueuedDevice device(CopiesEnd::in_order);
  Buffer source = Buffer::allocate(64, device);
  const trace::Recording recording;
  Buffer clone = source.lazy_clone(site(10));
  clone.materialize(Wait::allowed, site(20));
  source.materialize(Wait::allowed, site(30));
  device.run();
  const Events events(recording);
  const Json cloned = events.slices("clone").at(0);
  const Json copied = events.slices("copy (shared)").at(0);
  EXPECT_EQ(copied["args"]["bytes"], 64);
  EXPECT_EQ(copied["args"]["written_at"], "model.cpp:20");
  EXPECT_EQ(copied["args"]["cloned_at"], Json({"model.cpp:10"}));
  EXPECT_EQ(copied["args"]["data"], cloned["args"]["data"]);
  EXPECT_NE(copied["args"]["copy"], cloned["args"]["data"]);
  EXPECT_GE(copied["ts"], cloned["ts"]) << "it begins at the write";
  const Json stolen = events.slices("steal").at(0);
  EXPECT_EQ(stolen["args"]["bytes"], 64);
  EXPECT_EQ(stolen["args"]["written_at"], "model.cpp:30");
  EXPECT_EQ(stolen["args"]["data"], cloned["args"]["data"]);
  EXPECT_GE(stolen["ts"], copied["ts"]);
}

TEST_F(Recordings, have_the_wait_for_a_submitted_copy) {
  QueuedDevice device(CopiesEnd::later);
  Buffer source = Buffer::allocate(64, device);
  Buffer clone = source;
  clone.materialize();
  const trace::Recording recording;
  const Counted counted;
  boost::thread other([&] {
    await([&] { return counted.since().waits != 0; });
    device.run();
  });
  source.materialize(Wait::allowed, site(30));
  other.join();
  const Events events(recording);
  const Json waited = events.slices("wait for a copy").at(0);
  const Json stolen = events.slices("steal").at(0);
  EXPECT_EQ(waited["args"]["written_at"], "model.cpp:30");
  EXPECT_EQ(waited["ts"], stolen["ts"]) << "the write began with the wait";
}

}  // namespace
}  // namespace byre::test
