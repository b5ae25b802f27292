// SPDX-License-Identifier: BSL-1.0
/// What a recording shows beside the threads: bytes as counters, pins and overlays with their dirty pages; and what
/// many threads and forks make of it.
#include <byre/byre.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/counted.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

constexpr std::size_t paged_nbytes = std::size_t{1} << 20;

class Tracks : public WithStats {};

TEST_F(Tracks, of_bytes_end_where_the_counters_do) {
  RecyclingPool pool;
  const Buffer kept = Buffer::allocate(1 << 20, pool);
  Buffer::allocate(1 << 20, pool);  // idles from now on
  const stats::Counters before = stats::snapshot();
  const trace::Recording recording;
  {
    Buffer clone = kept;
    clone.mutable_data();  // takes the idle block
    Buffer other = clone;
    other.mutable_data();  // and one from the system
    Buffer late = Buffer::allocate(100);
    late.resize(1000);
    Buffer::allocate(paged_nbytes, paged_allocator());
  }
  pool.trim();
  Buffer last = kept;
  const stats::Counters after = stats::snapshot();
  const Events events(recording);
  EXPECT_EQ(events.values("live bytes").front(), before.live_bytes);
  EXPECT_EQ(events.values("live bytes").back(), after.live_bytes);
  EXPECT_EQ(events.values("pooled bytes").front(), before.pooled_bytes);
  EXPECT_EQ(events.values("pooled bytes").back(), after.pooled_bytes);
  EXPECT_EQ(events.values("bytes copied").front(), 0);
  EXPECT_EQ(events.values("bytes copied").back(), (after - before).bytes_copied);
  EXPECT_EQ(events.values("bytes not copied").back(), (after - before).bytes_not_copied);
  EXPECT_EQ(events.of("i", "pool hit").at(0)["args"]["bytes"], 1 << 20);
  EXPECT_EQ(events.of("i", "pool hit").size(), 1U);
  EXPECT_EQ(events.of("i", "pool miss").at(0)["args"]["bytes"], 1 << 20);
  EXPECT_FALSE(events.of("i", "pool hit").at(0)["args"].contains("data"));
  EXPECT_EQ(events.of("i", "pool hit").at(0)["s"], "t");
  EXPECT_EQ(events.of("i", "allocation").size(), 5U);
  EXPECT_EQ(events.of("i", "release").size(), 5U);
}

TEST_F(Tracks, of_pins_begin_and_end) {
  const trace::Recording recording;
  Storage storage = Storage::allocate(64);
  Storage other = Storage::allocate(64);
  {
    Pin pin = storage.pin(Wait::allowed, {"exchange.cpp", 1});
    const Pin moved = std::move(pin);
    const Pin reader = other.pin_to_read({"exchange.cpp", 2});
    const Pin of_no_bytes = Storage(Buffer()).pin_to_read();
  }
  const Pin open = storage.pin_to_read({"exchange.cpp", 3});
  const Events events(recording);
  const auto begins = events.of("b", "pin");
  const auto ends = events.of("e", "pin");
  ASSERT_EQ(begins.size(), 3U);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(begins[0]["args"]["to"], "write");
  EXPECT_EQ(begins[0]["args"]["bytes"], 64);
  EXPECT_EQ(begins[0]["args"]["pinned_at"], "exchange.cpp:1");
  EXPECT_EQ(begins[1]["args"]["to"], "read");
  EXPECT_EQ(begins[1]["args"]["pinned_at"], "exchange.cpp:2");
  EXPECT_EQ(ends[0]["id"], begins[1]["id"]);
  EXPECT_EQ(ends[1]["id"], begins[0]["id"]);
  EXPECT_NE(ends[0]["id"], ends[1]["id"]);
}

TEST_F(Tracks, leave_out_the_ends_of_what_began_before) {
  Storage storage = Storage::allocate(64);
  std::optional<Pin> pin = storage.pin();
  Buffer paged = Buffer::allocate(paged_nbytes, paged_allocator());
  std::optional<Buffer> overlay = paged;
  overlay->mutable_data();
  const trace::Recording recording;
  { const Pin others[] = {storage.pin(), storage.pin()}; }
  pin.reset();
  overlay.reset();
  const Events events(recording);
  EXPECT_EQ(events.of("b", "pin").size(), 2U);
  EXPECT_EQ(events.of("e", "pin").size(), 2U);
  EXPECT_TRUE(events.of("e", "overlay").empty());
}

/// Skips where the system does not say which pages of an overlay were written.
class TracksOfOverlays : public Tracks {
 protected:
  void SetUp() override {
    Tracks::SetUp();
    const Buffer source = Buffer::allocate(paged_nbytes, paged_allocator());
    Buffer clone = source;
    clone.mutable_data()[0] = std::byte{1};
    if (clone.origin() != Origin::overlay ||
        detail::count_written_pages(clone.data(), clone.nbytes()) == 0) {
      GTEST_SKIP() << "the system does not say which pages were written";
    }
    std::memset(data_.mutable_data(), 1, paged_nbytes);
  }

  Buffer data_ = Buffer::allocate(paged_nbytes, paged_allocator());
};

TEST_F(TracksOfOverlays, of_overlays_end_with_their_dirty_pages) {
  const trace::Recording recording;
  Buffer first = data_.lazy_clone({"cache.cpp", 1});
  {
    Buffer second = data_.lazy_clone({"cache.cpp", 2});
    std::byte* const bytes = second.mutable_data(Wait::allowed, {"cache.cpp", 3});
    for (const std::size_t page : {0U, 7U, 200U}) {
      bytes[page * page_nbytes] = std::byte{2};
    }
  }
  first.mutable_data(Wait::allowed, {"cache.cpp", 4})[5] = std::byte{3};
  const Events events(recording);
  const auto slices = events.slices("overlay (shared)");
  const auto begins = events.of("b", "overlay");
  const auto ends = events.of("e", "overlay");
  ASSERT_EQ(slices.size(), 2U);
  ASSERT_EQ(begins.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(slices[0]["args"]["written_at"], "cache.cpp:3");
  EXPECT_EQ(slices[0]["args"]["cloned_at"], Json({"cache.cpp:2", "cache.cpp:1"}));
  EXPECT_EQ(slices[0]["args"]["copied_bytes"], 0);
  EXPECT_EQ(slices[0]["args"]["shows_data"], events.arguments("clone")["data"]);
  EXPECT_NE(begins[0]["id"], begins[1]["id"]);
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_EQ(ends[0]["args"]["dirty_pages"], 3);
  EXPECT_EQ(ends[0]["args"]["dirty_bytes"], 3 * page_nbytes);
  EXPECT_FALSE(ends[0]["args"].contains("is_alive"));
  EXPECT_EQ(ends[1]["args"]["dirty_pages"], 1);
  EXPECT_EQ(ends[1]["args"]["is_alive"], true);
  EXPECT_EQ(begins[1]["id"], ends[1]["id"]);
  EXPECT_EQ(events.of("f", "cloned").size(), 2U);
  EXPECT_EQ(events.values("bytes copied"), std::vector<std::int64_t>{0});
  EXPECT_NE(recording.summary().find("2 overlays of 2097152 bytes, 16384 bytes written in them"),
            std::string::npos)
      << recording.summary();
}

TEST_F(TracksOfOverlays, count_the_pages_that_an_overlay_of_an_overlay_copied) {
  Buffer first = data_;
  first.mutable_data()[0] = std::byte{2};
  const stats::Counters before = stats::snapshot();
  const trace::Recording recording;
  const Buffer second = first;
  first.mutable_data()[page_nbytes] = std::byte{3};
  const stats::Counters counted = stats::snapshot() - before;
  const Events events(recording);
  EXPECT_EQ(events.arguments("overlay (shared)")["copied_bytes"], counted.bytes_copied);
  EXPECT_EQ(events.values("bytes copied").back(), counted.bytes_copied);
  EXPECT_EQ(events.values("bytes not copied").back(), counted.bytes_not_copied);
  EXPECT_GT(counted.bytes_copied, 0);
}

TEST_F(TracksOfOverlays, of_writable_clones_begin_for_both_sides_and_end) {
  const trace::Recording recording;
  std::optional<Buffer> source = Buffer::allocate(paged_nbytes, paged_allocator());
  std::memset(source->mutable_data(), 1, paged_nbytes);
  std::optional<Buffer> clone = source->writable_clone(Wait::allowed, {"clone.cpp", 1});
  source->mutable_data()[0] = std::byte{2};
  clone->mutable_data()[page_nbytes] = std::byte{3};
  clone->mutable_data()[2 * page_nbytes] = std::byte{3};
  clone.reset();
  source.reset();
  const Events events(recording);
  EXPECT_EQ(events.arguments("clone")["cloned_at"], Json({"clone.cpp:1"}));
  const auto slices = events.slices("overlay (writable)");
  const auto begins = events.of("b", "overlay");
  const auto ends = events.of("e", "overlay");
  ASSERT_EQ(slices.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  const Json file = events.of("i", "allocation").at(0)["args"]["data"];
  EXPECT_EQ(slices[0]["args"]["shows_data"], file);
  EXPECT_EQ(slices[1]["args"]["shows_data"], begins[0]["id"]);
  EXPECT_EQ(slices[1]["args"]["written_at"], "clone.cpp:1");
  EXPECT_LT(slices[1]["ts"], events.slices("clone").at(0)["ts"]) << "it began before it was done";
  EXPECT_EQ(ends[0]["id"], begins[1]["id"]);
  EXPECT_EQ(ends[0]["args"]["dirty_pages"], 2);
  EXPECT_EQ(ends[1]["id"], begins[0]["id"]);
  EXPECT_EQ(ends[1]["args"]["dirty_pages"], 1);
  EXPECT_EQ(events.of("i", "release").at(0)["args"]["data"], file);
}

TEST_F(TracksOfOverlays, of_a_writable_clone_in_a_new_file_end_in_the_old_one) {
  Buffer source = Buffer::allocate(paged_nbytes, paged_allocator());
  const Buffer first = source.writable_clone();
  std::memset(source.mutable_data(), 1, paged_nbytes);
  const stats::Counters before = stats::snapshot();
  const trace::Recording recording;
  const Buffer second = source.writable_clone();
  source.mutable_data()[0] = std::byte{2};
  const stats::Counters counted = stats::snapshot() - before;
  const Events events(recording);
  const auto slices = events.slices("overlay (writable)");
  const auto ends = events.of("e", "overlay");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(counted.overlays, 2);
  EXPECT_EQ(slices[0]["args"]["shows_data"], events.of("i", "allocation").at(0)["args"]["data"]);
  EXPECT_EQ(slices[1]["args"]["copied_bytes"], paged_nbytes);
  EXPECT_EQ(events.values("bytes copied").back(), counted.bytes_copied);
  EXPECT_EQ(events.values("bytes not copied").back(), counted.bytes_not_copied);
  EXPECT_EQ(counted.bytes_not_copied, 0);
  ASSERT_EQ(ends.size(), 2U) << "both are alive";
  EXPECT_EQ(ends[0]["args"]["dirty_pages"].get<std::size_t>() +
                ends[1]["args"]["dirty_pages"].get<std::size_t>(),
            1U);
  EXPECT_NE(recording.summary().find(std::to_string(paged_nbytes + page_nbytes) +
                                     " bytes written in them"),
            std::string::npos)
      << recording.summary();
}

TEST_F(Tracks, know_data_at_the_address_that_a_writable_clone_s_source_had) {
  const trace::Recording recording;
  std::optional<Buffer> source = Buffer::allocate(paged_nbytes, paged_allocator());
  const std::byte* const place = source->data();
  std::optional<Buffer> clone = source->writable_clone();
  source.reset();
  std::vector<Buffer> others;
  while (others.size() < 16 && (others.empty() || others.back().data() != place)) {
    others.push_back(Buffer::allocate(paged_nbytes, paged_allocator()));
  }
  const Buffer lazy = others.back().lazy_clone({"later.cpp", 1});
  clone.reset();  // and the file ends
  EXPECT_NE(explain(lazy).find("cloned at later.cpp:1"), std::string::npos) << explain(lazy);
}

/// What threads do to buffers of their own that share data, at random.
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

TEST_F(Tracks, lose_no_event_of_many_threads) {
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

TEST_F(Tracks, are_whole_where_recordings_come_and_go_meanwhile) {
  const std::uint64_t from = seed();
  const Buffer shared = Buffer::allocate(4096);
  at_once(4, [&](std::size_t thread) {
    if (thread < 2) {
      work(shared, from + thread);
      return;
    }
    for (int round = 0; round < 10; ++round) {
      trace::Recording recording;
      const Buffer clone = shared.lazy_clone({"round.cpp", static_cast<std::uint32_t>(thread)});
      const auto own = [&] {
        int count = 0;
        for (const Json& each : Events(recording).slices("clone")) {
          count += each["args"]["cloned_at"][0] == "round.cpp:" + std::to_string(thread);
        }
        return count;
      };
      EXPECT_EQ(own(), 1);
      recording.stop();
      EXPECT_EQ(own(), 1);
    }
  });
}

TEST_F(Tracks, of_a_child_have_nothing_of_its_parent) {
  const Buffer pages = Buffer::allocate(paged_nbytes, paged_allocator());
  std::vector<Buffer> overlaid(8, pages);  // by overlays, of which each is one event
  const trace::Recording recording(64 * 1024);
  const Buffer data = Buffer::allocate(64);
  const Buffer clone = data.lazy_clone({"parent.cpp", 1});
  while (recording.lost() == 0) {
    Buffer other = data.lazy_clone({"parent.cpp", 2});
    other.mutable_data();
  }
  const ChildResult result = run_in_child(
      [&](int output) {
        for (Buffer& each : overlaid) {
          each.mutable_data();
        }
        const Buffer own = data.lazy_clone({"child.cpp", 2});
        const Events events(recording);
        const std::string text = events.whole().dump();
        const auto clones = events.slices("clone");
        const bool is_right = clones.size() == 1 &&
                              clones[0]["args"]["cloned_at"] == Json({"child.cpp:2"}) &&
                              clones[0]["pid"] == ::getpid() && recording.lost() == 0 &&
                              text.find("parent.cpp") == std::string::npos &&
                              text.find("shows_data") == std::string::npos;
        write_all(output, is_right ? "right" : text);
      },
      std::chrono::seconds(60));
  EXPECT_EQ(result.output, "right");
  EXPECT_EQ(Events(recording).arguments("clone")["cloned_at"], Json({"parent.cpp:1"}));
}

}  // namespace
}  // namespace byre::test
