// SPDX-License-Identifier: BSL-1.0
/// The tracks (rows) of a trace that belong to no thread: byte counters, pins, and overlays with
/// their dirty pages. Also the trace of a forked child.
#include <byre/byre.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "events.hpp"
#include "support/child_process.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

constexpr std::size_t paged_nbytes = std::size_t{1} << 20;

class Tracks : public WithStats {};

TEST_F(Tracks, byte_tracks_end_at_the_final_values_of_the_counters) {
  RecyclingPool pool;
  const Buffer kept = Buffer::allocate(1 << 20, pool);
  Buffer::allocate(1 << 20, pool);  // its block is idle from now on
  const stats::Counters before = stats::snapshot();
  const trace::Recording recording;
  {
    Buffer clone = kept;
    clone.mutable_data();  // takes the idle block
    Buffer other = clone;
    other.mutable_data();  // takes a new block from the system
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

TEST_F(Tracks, a_pin_appears_as_a_span_from_creation_to_destruction) {
  const trace::Recording recording;
  Storage storage = Storage::allocate(64);
  Storage other = Storage::allocate(64);
  {
    Pin pin = storage.pin(Wait::allowed, at_line(1));
    const Pin moved = std::move(pin);
    const Pin reader = other.pin_to_read(at_line(2));
    const Pin of_no_bytes = Storage(Buffer()).pin_to_read();
  }
  const Pin open = storage.pin_to_read(at_line(3));
  EXPECT_EQ(shown(recording),
            "1: pin begins A bytes=64 data=A pinned_at=1 to=write\n"
            "1: clone bytes=64 cloned_at=2 data=B\n"
            "1: pin begins B bytes=64 data=B pinned_at=2 to=read\n"
            "1: pin ends B\n"
            "1: pin ends A\n"
            "1: clone bytes=64 cloned_at=3 data=A\n"
            "1: pin begins A bytes=64 data=A pinned_at=3 to=read\n");
}

TEST_F(Tracks, omit_ends_of_spans_that_began_before_the_recording) {
  Storage storage = Storage::allocate(64);
  std::optional<Pin> pin = storage.pin();
  Buffer paged = Buffer::allocate(paged_nbytes, paged_allocator());
  std::optional<Buffer> overlay = paged;
  overlay->mutable_data();
  const trace::Recording recording;
  {
    const Pin others[] = {storage.pin(Wait::allowed, at_line(1)),
                          storage.pin(Wait::allowed, at_line(2))};
  }
  pin.reset();
  overlay.reset();
  EXPECT_EQ(shown(recording),
            "1: pin begins A bytes=64 data=A pinned_at=1 to=write\n"
            "1: pin begins A bytes=64 data=A pinned_at=2 to=write\n"
            "1: pin ends A\n"
            "1: pin ends A\n");
}

/// Skips the tests if the system does not report which pages of an overlay were written.
class TracksOfOverlays : public Tracks {
 protected:
  void SetUp() override {
    Tracks::SetUp();
    const Buffer source = Buffer::allocate(paged_nbytes, paged_allocator());
    Buffer clone = source;
    clone.mutable_data()[0] = std::byte{1};
    if (clone.origin() != Origin::overlay ||
        detail::count_written_pages(clone.data(), clone.nbytes()) == 0) {
      GTEST_SKIP() << "the system does not report written pages";
    }
    std::memset(data_.mutable_data(), 1, paged_nbytes);
  }

  Buffer data_ = Buffer::allocate(paged_nbytes, paged_allocator());
};

std::string dirty(std::size_t pages) {
  return " dirty_bytes=" + std::to_string(pages * page_nbytes) +
         " dirty_pages=" + std::to_string(pages);
}

TEST_F(TracksOfOverlays, the_end_of_an_overlay_span_reports_its_dirty_pages) {
  const trace::Recording recording;
  Buffer first = data_.lazy_clone(at_line(1));
  {
    Buffer second = data_.lazy_clone(at_line(2));
    std::byte* const bytes = second.mutable_data(Wait::allowed, at_line(3));
    for (const std::size_t page : {0U, 7U, 200U}) {
      bytes[page * page_nbytes] = std::byte{2};
    }
  }
  first.mutable_data(Wait::allowed, at_line(4))[5] = std::byte{3};
  const Events events(recording);
  EXPECT_EQ(
      shown(events, "clone"),
      "1: clone bytes=1048576 cloned_at=1 data=A\n1: clone bytes=1048576 cloned_at=2 data=A\n");
  const std::string second = "cloned_at=2,1 copied_bytes=0 data=B shows_data=A written_at=3";
  const std::string third = "cloned_at=2,1 copied_bytes=0 data=C shows_data=A written_at=4";
  EXPECT_EQ(shown(events, "overlay"),
            "1: overlay (shared) bytes=1048576 " + second + " <- 1: clone at 2\n" +
                "1: overlay begins B bytes=1048576 " + second + "\n1: overlay ends B" + dirty(3) +
                "\n1: overlay (shared) bytes=1048576 " + third + " <- 1: clone at 2\n" +
                "1: overlay begins C bytes=1048576 " + third + "\n0: overlay ends C" + dirty(1) +
                " is_alive=true\n");
  EXPECT_EQ(events.values("bytes copied"), std::vector<std::int64_t>{0});
  EXPECT_TRUE(says(recording.summary(), "2 overlays of 2097152 bytes, " +
                                            std::to_string(4 * page_nbytes) +
                                            " bytes written in them"));
}

TEST_F(TracksOfOverlays, an_overlay_of_a_mapped_file_has_cause_read_only) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'f'));
  Buffer mapped = Buffer::map_file(folder / "file");
  const trace::Recording recording;
  mapped.mutable_data();
  EXPECT_EQ(Events(recording).slices("overlay (read_only)").size(), 1U);
}

TEST_F(TracksOfOverlays, an_overlay_of_an_overlay_reports_the_pages_it_copied) {
  Buffer first = data_;
  first.mutable_data()[0] = std::byte{2};
  const stats::Counters before = stats::snapshot();
  const trace::Recording recording;
  const Buffer second = first;
  first.mutable_data()[page_nbytes] = std::byte{3};
  const stats::Counters counted = stats::snapshot() - before;
  const Events events(recording);
  EXPECT_EQ(events.slices("overlay (shared)").at(0)["args"]["copied_bytes"], counted.bytes_copied);
  EXPECT_EQ(events.values("bytes copied").back(), counted.bytes_copied);
  EXPECT_EQ(events.values("bytes not copied").back(), counted.bytes_not_copied);
  EXPECT_GT(counted.bytes_copied, 0);
}

TEST_F(TracksOfOverlays, a_writable_clone_adds_an_overlay_for_source_and_for_clone) {
  const trace::Recording recording;
  std::optional<Buffer> source = Buffer::allocate(paged_nbytes, paged_allocator());
  std::memset(source->mutable_data(), 1, paged_nbytes);
  std::optional<Buffer> clone = source->writable_clone(Wait::allowed, at_line(1));
  source->mutable_data()[0] = std::byte{2};
  clone->mutable_data()[page_nbytes] = std::byte{3};
  clone->mutable_data()[2 * page_nbytes] = std::byte{3};
  clone.reset();
  source.reset();
  const Events events(recording);
  const std::string sources = "bytes=1048576 copied_bytes=0 data=A shows_data=B written_at=1\n";
  const std::string clones = "bytes=1048576 copied_bytes=0 data=C shows_data=A written_at=1\n";
  EXPECT_EQ(shown(events), "1: overlay (writable) " + sources + "  1: overlay (writable) " +
                               clones + "1: overlay begins A " + sources +
                               "  1: clone bytes=1048576 cloned_at=1 data=A\n" +
                               "1: overlay begins C " + clones + "1: overlay ends C" + dirty(2) +
                               "\n1: overlay ends A" + dirty(1) + "\n");
  const Json file = events.of("i", "allocation").at(0)["args"]["data"];
  EXPECT_EQ(events.slices("overlay (writable)").at(0)["args"]["shows_data"], file);
  EXPECT_EQ(events.of("i", "release").at(0)["args"]["data"], file);
}

TEST_F(TracksOfOverlays, a_clone_in_a_new_file_ends_the_span_of_the_old_overlay) {
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
  ASSERT_EQ(ends.size(), 2U) << "expected an end for each of the two live overlays";
  EXPECT_EQ(ends[0]["args"]["dirty_pages"].get<std::size_t>() +
                ends[1]["args"]["dirty_pages"].get<std::size_t>(),
            1U);
  EXPECT_TRUE(says(recording.summary(),
                   std::to_string(paged_nbytes + page_nbytes) + " bytes written in them"));
}

TEST_F(Tracks, distinguish_new_data_at_the_address_of_a_destroyed_source) {
  const trace::Recording recording;
  std::optional<Buffer> source = Buffer::allocate(paged_nbytes, paged_allocator());
  const std::byte* const place = source->data();
  std::optional<Buffer> clone = source->writable_clone();
  source.reset();
  std::vector<Buffer> others;
  while (others.size() < 16 && (others.empty() || others.back().data() != place)) {
    others.push_back(Buffer::allocate(paged_nbytes, paged_allocator()));
  }
  const Buffer lazy = others.back().lazy_clone(at_line(1));
  clone.reset();  // destroys the file
  EXPECT_TRUE(says(explain(lazy), "cloned at model.cpp:1"));
}

TEST_F(Tracks, a_forked_child_starts_without_the_parents_events) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  const Buffer pages = Buffer::allocate(paged_nbytes, paged_allocator());
  std::vector<Buffer> overlaid(8, pages);  // each write below maps an overlay, which is one event
  const trace::Recording recording(64 * 1024);
  const Buffer data = Buffer::allocate(64);
  std::optional<Buffer> freed = Buffer::allocate(paged_nbytes);
  const Buffer clone = data.lazy_clone(at_line(1));
  while (recording.lost() == 0) {
    Buffer other = data.lazy_clone(at_line(1));
    other.mutable_data();
  }
  const auto now_us = [] {
    using Microseconds = std::chrono::duration<double, std::micro>;
    return Microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double forked_us = now_us();
  const ChildResult result = run_in_child(
      [&](int output) {
        const stats::Counters begin = stats::snapshot();
        for (Buffer& each : overlaid) {
          each.mutable_data();
        }
        freed.reset();
        const Buffer own = data.lazy_clone(at_line(2));
        const double cloned_us = now_us();
        const stats::Counters end = stats::snapshot();
        const Events events(recording);
        const std::string text = events.whole().dump();
        const auto threads = events.of("M", "thread_name");
        const auto live = events.values("live bytes");
        const bool is_right =
            shown(events, "clone") == "1: clone bytes=64 cloned_at=2 data=I\n" &&
            text.find("shows_data") == std::string::npos && recording.lost() == 0 &&
            events.slices("clone").at(0)["pid"] == ::getpid() && threads.size() == 1 &&
            threads[0]["args"]["name"].get<std::string>().ends_with(
                "(" + std::to_string(::getpid()) + ")") &&
            live.front() == begin.live_bytes && live.back() == end.live_bytes &&
            events.values("pooled bytes").back() == end.pooled_bytes &&
            events.all().back()["ts"] >= 0 &&
            events.slices("clone").at(0)["ts"] <= cloned_us - forked_us + 1;
        write_all(output, is_right ? "right" : shown(events) + text);
      },
      std::chrono::seconds(60));
  EXPECT_EQ(result.output, "right");
  EXPECT_EQ(Events(recording).slices("clone").at(0)["args"]["cloned_at"], Json({"model.cpp:1"}));
}

}  // namespace
}  // namespace byre::test
