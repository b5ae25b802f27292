// SPDX-License-Identifier: BSL-1.0
/// The trace and the summary text of records. Most records are made by hand.
#include <byre/observe/detail/records.hpp>
#include <byre/storage/explain.hpp>
#include <byre/system/detail/process.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/features.hpp"

namespace byre::test {
namespace {

using stats::detail::ClonedLines;
using stats::detail::Record;
using stats::detail::RecordKind;
using stats::detail::Records;

constexpr std::int64_t begin_ns = 1'000'000;

/// A record of data 1 on thread 1, from 5.007 to 8.01 microseconds after the beginning of
/// the recording.
Record record_of(RecordKind kind) {
  Record record;
  record.kind = kind;
  record.begin_ns = begin_ns + 5'007;
  record.end_ns = begin_ns + 8'010;
  record.nbytes = 64;
  record.data = 1;
  record.thread = 1;
  return record;
}

Events events_of(std::vector<Record> records) {
  return Events(trace::detail::chrome_trace({std::move(records), {}, begin_ns, 0, {}}));
}

std::string summary_of(std::vector<Record> records) {
  return trace::detail::summary_of({std::move(records), {}, begin_ns, 0, {}});
}

TEST(TraceOutput, times_are_microseconds_since_the_recording_began) {
  Record late = record_of(RecordKind::clone);
  late.end_ns += 1000;
  Record copy = record_of(RecordKind::copy);
  // The clone is older than the recording, so there is no arrow.
  copy.links_to = {begin_ns - 1, begin_ns - 1, 1, 0};
  Record brief = record_of(RecordKind::steal);
  brief.end_ns = brief.begin_ns;
  const Events events = events_of({copy, late, record_of(RecordKind::copy), brief});
  const Json copied = events.slices("copy (shared)").at(0);
  EXPECT_EQ(copied["ts"], 5.007);
  EXPECT_EQ(copied["dur"], 3.003);
  EXPECT_EQ(events.slices("steal").at(0)["dur"], 0.001)
      << "viewers draw arrows only between slices with a duration";
  const auto counted = events.of("C", "bytes copied");
  EXPECT_EQ(counted.at(0)["ts"], 0);
  EXPECT_EQ(counted.at(1)["ts"], 8.01);
  EXPECT_EQ(counted.at(2)["ts"], 9.01) << "times of counters must not decrease";
  EXPECT_TRUE(events.of("s", "cloned").empty());
}

TEST(TraceOutput, unknown_fields_are_omitted) {
  Record copy = record_of(RecordKind::copy);
  copy.cloned_at = {{{0, 1}}};
  EXPECT_EQ(shown(events_of({copy, record_of(RecordKind::overlay), record_of(RecordKind::pin)})),
            "1: copy (shared) bytes=64 data=A\n"
            "  1: overlay (shared) bytes=64 copied_bytes=0 data=A\n"
            "1: overlay begins A bytes=64 copied_bytes=0 data=A\n"
            "1: pin begins A bytes=64 data=A to=write\n");
  EXPECT_TRUE(summary_of({copy}).ends_with("\n1. 1 copy of 64 bytes (shared)\n"));
}

TEST(TraceOutput, a_pending_copy_reduces_the_bytes_not_copied) {
  Record pending = record_of(RecordKind::copy);
  pending.cause = stats::CopyCause::pending;
  EXPECT_EQ(events_of({record_of(RecordKind::clone), pending}).values("bytes not copied"),
            (std::vector<std::int64_t>{0, 64, 0}));
}

TEST(TraceOutput, the_summary_adds_up_waits_and_bytes_written_in_overlays) {
  Record copied = record_of(RecordKind::overlay);
  copied.part_nbytes = 5;
  Record written = record_of(RecordKind::overlay_end);
  written.part_nbytes = 7;
  const std::string summary =
      summary_of({record_of(RecordKind::wait), copied, written, record_of(RecordKind::pin),
                  record_of(RecordKind::pin_to_read), record_of(RecordKind::pin_to_read),
                  record_of(RecordKind::pool_hit)});
  EXPECT_TRUE(says(summary, "1 waits for copies, 3 us in all; 3 pins;"));
  EXPECT_TRUE(says(summary, "1 overlay of 64 bytes, 7 bytes written in them;"));
  EXPECT_TRUE(says(summary, "; pool: 1 reused block of 64 bytes, 0 new blocks of 0 bytes.\n"));
  EXPECT_TRUE(says(summary, "\n1. 1 overlay of 64 bytes (shared)\n"));
}

TEST(TraceOutput, the_summary_groups_copies_by_cause_and_set_of_lines) {
  Record one = record_of(RecordKind::copy);
  one.cloned_at = {{{1, 1}, {2, 3}}};
  Record other = record_of(RecordKind::copy);
  other.cloned_at = {{{2, 1}, {1, 1}}};
  Record pending = one;
  pending.cause = stats::CopyCause::pending;
  const std::string summary = summary_of({one, pending, other});
  EXPECT_TRUE(says(summary, "\n1. 2 copies of 128 bytes (shared)\n"));
  EXPECT_TRUE(says(summary, "\n2. 1 copy of 64 bytes (pending)\n"));
}

TEST(LinesOfTheWhole, precede_the_lines_of_the_part_without_duplicates) {
  ClonedLines two{{{1, 2}, {3, 1}}};
  stats::detail::add_lines_of_whole(two, {{{5, 2}, {1, 3}}});
  EXPECT_EQ(two, (ClonedLines{{{5, 2}, {1, 3}, {3, 1}}}));
  ClonedLines four{{{1, 1}, {2, 1}, {3, 1}, {4, 1}}};
  stats::detail::add_lines_of_whole(four, {{{5, 1}}});
  EXPECT_EQ(four, (ClonedLines{{{5, 1}, {1, 1}, {2, 1}, {3, 1}}}));
}

TEST_F(Recordings, name_their_threads_in_valid_utf_8) {
  const Buffer weights = Buffer::allocate(100);
  const trace::Recording recording;
  clone(weights, 1);
  int failure = 0;
  on_another_thread([&] {
    failure = ::pthread_setname_np(::pthread_self(), "w\xC3\xA9 \xC3 \xE0\x80\x80 \xFF");
    clone(weights, 2);
  });
  const Events events(recording);
  if (failure == ENOTSUP) {
    GTEST_SKIP() << "this system does not name threads";
  }
  const auto names = events.of("M", "thread_name");
  const auto places = events.of("M", "thread_sort_index");
  ASSERT_EQ(names.size(), 2U);
  ASSERT_EQ(places.size(), 2U);
  for (int thread : {1, 2}) {
    const std::size_t index = static_cast<std::size_t>(thread) - 1;
    EXPECT_EQ(names[index]["tid"], thread);
    EXPECT_EQ(places[index]["tid"], thread);
    EXPECT_EQ(places[index]["args"]["sort_index"], thread);
  }
  if (uses("linux")) {
#if defined(_WIN32)
    const std::uint64_t first_thread = system::thread_id();
#else
    const ::pid_t first_thread = ::getpid();
#endif
    EXPECT_TRUE(says(names[0]["args"]["name"], " (" + std::to_string(first_thread) + ")"));
    const std::string replaced = "\xEF\xBF\xBD";
    EXPECT_TRUE(says(names[1]["args"]["name"], "w\xC3\xA9 " + replaced + " " + replaced + replaced +
                                                   replaced + " " + replaced + " ("));
  }
  const Json process = events.of("M", "process_name").at(0);
  EXPECT_EQ(process["pid"], ::getpid());
  EXPECT_NE(process["args"]["name"], "");
  EXPECT_EQ(events.whole()["otherData"]["byre"], BYRE_VERSION_STRING);
}

TEST_F(Recordings, summarize_copies_by_their_writing_and_cloning_lines) {
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

TEST_F(Recordings, make_explain_name_the_cloning_lines) {
  const Buffer weights = Buffer::allocate(100);
  const Buffer before = clone(weights, 1);
  EXPECT_FALSE(says(explain(weights), "cloned at"));
  std::optional<trace::Recording> recording(std::in_place);
  const Buffer clones[] = {clone(weights, 2), clone(weights, 3), clone(weights, 2)};
  EXPECT_TRUE(says(explain(weights),
                   "shared by 5 owners, cloned at model.cpp:2 (2 times) and model.cpp:3: a write "
                   "copies them."));
  const Buffer own = Buffer::allocate(100);
  clone(own, 4);
  EXPECT_FALSE(says(explain(own), "cloned at"));
  const Buffer somewhere = own.lazy_clone(CallSite{});
  EXPECT_FALSE(says(explain(own), "cloned at"));
  recording.reset();
  EXPECT_FALSE(says(explain(weights), "cloned at"));
}

}  // namespace
}  // namespace byre::test
