// SPDX-License-Identifier: BSL-1.0
/// How records are shown, whatever they are of: records that are written here.
#include <byre/observe/detail/record_log.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "events.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

using stats::detail::ClonedLines;
using stats::detail::Record;
using stats::detail::RecordKind;
using stats::detail::Records;

constexpr std::int64_t begin_ns = 1'000'000;

/// Of data 1, on thread 1, from 5.007 to 8.01 microseconds after the begin.
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

Events shown(std::vector<Record> records) {
  return Events(trace::detail::chrome_trace({std::move(records), {}, begin_ns, 0}, {}));
}

std::string summary_of(std::vector<Record> records) {
  return trace::detail::summary_of({std::move(records), {}, begin_ns, 0});
}

TEST(Shown, times_are_microseconds_since_the_recording_began) {
  const Events events = shown({record_of(RecordKind::copy)});
  const Json copied = events.slices("copy (shared)").at(0);
  EXPECT_EQ(copied["ts"], 5.007);
  EXPECT_EQ(copied["dur"], 3.003);
  EXPECT_EQ(events.of("C", "bytes copied").front()["ts"], 0);
  EXPECT_EQ(events.of("C", "bytes copied").back()["ts"], 8.01);
}

TEST(Shown, counters_do_not_go_back_in_time) {
  Record late = record_of(RecordKind::clone);
  late.end_ns += 1000;
  const Events events = shown({late, record_of(RecordKind::copy)});
  EXPECT_EQ(events.of("C", "bytes copied").back()["ts"], 9.01);
}

TEST(Shown, arrows_come_from_what_is_shown) {
  Record before = record_of(RecordKind::copy);
  before.links_to = {begin_ns - 1, begin_ns - 1, 1, 0};
  EXPECT_TRUE(shown({before, record_of(RecordKind::copy)}).of("s", "cloned").empty());
}

TEST(Shown, what_is_not_known_is_left_out) {
  const Events events = shown(
      {record_of(RecordKind::copy), record_of(RecordKind::overlay), record_of(RecordKind::pin)});
  for (const char* const name : {"copy", "written_at", "cloned_at"}) {
    EXPECT_FALSE(events.slices("copy (shared)").at(0)["args"].contains(name)) << name;
  }
  EXPECT_FALSE(events.slices("overlay (shared)").at(0)["args"].contains("shows_data"));
  EXPECT_FALSE(events.of("b", "pin").at(0)["args"].contains("pinned_at"));
}

TEST(Shown, bytes_that_a_pending_copy_was_to_spare_were_copied) {
  Record pending = record_of(RecordKind::copy);
  pending.cause = stats::CopyCause::pending;
  EXPECT_EQ(shown({record_of(RecordKind::clone), pending}).values("bytes not copied"),
            (std::vector<std::int64_t>{0, 64, 0}));
}

TEST(Shown, sums_are_of_waits_and_of_what_was_written_in_overlays) {
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
  EXPECT_TRUE(says(summary, "of the pool 1 block of 64 bytes, and 0 new ones of 0 bytes.\n"));
  EXPECT_TRUE(says(summary, "\n1. 1 overlay of 64 bytes (shared)\n"));
}

TEST(Shown, sums_are_of_copies_for_the_same_cause_and_lines_in_any_order) {
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

ClonedLines with_lines_of_whole(ClonedLines lines, const ClonedLines& whole) {
  stats::detail::add_lines_of_whole(lines, whole);
  return lines;
}

std::vector<std::pair<stats::detail::SiteId, std::uint32_t>> as_pairs(const ClonedLines& lines) {
  std::vector<std::pair<stats::detail::SiteId, std::uint32_t>> pairs;
  for (const auto& [site, count] : lines) {
    pairs.emplace_back(site, count);
  }
  return pairs;
}

TEST(LinesOfAWhole, come_before_those_of_its_part_and_are_not_counted_twice) {
  EXPECT_EQ(as_pairs(with_lines_of_whole({{{1, 2}, {3, 1}}}, {{{5, 2}, {1, 3}}})),
            as_pairs({{{5, 2}, {1, 3}, {3, 1}}}));
  EXPECT_EQ(as_pairs(with_lines_of_whole({{{1, 1}, {2, 1}, {3, 1}, {4, 1}}}, {{{5, 1}}})),
            as_pairs({{{5, 1}, {1, 1}, {2, 1}, {3, 1}}}));
}

}  // namespace
}  // namespace byre::test
