// SPDX-License-Identifier: BSL-1.0
/// Which tags and lines share data, and the text and the JSON of memory reports.
#include <byre/byre.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tagged.hpp"

namespace byre::test {
namespace {

class MemorySharers : public MemoryReports {};

TEST_F(MemorySharers, are_the_tags_in_which_shared_data_was_cloned) {
  const Buffer weights = tagged("weights", 64);
  EXPECT_EQ(shared_of("weights"), "");
  const Buffer evaluated = clone_in("evaluation", weights);
  EXPECT_EQ(shared_of("weights"), "1 of 64 bytes in evaluation");
  const Buffer saved = clone_in("checkpoint", weights);
  const Buffer other = weights;
  EXPECT_EQ(shared_of("weights"), "1 of 64 bytes in checkpoint, evaluation, untagged");
}

TEST_F(MemorySharers, are_forgotten_when_the_data_has_one_owner) {
  const Buffer weights = tagged("weights", 64);
  clone_in("evaluation", weights);
  EXPECT_EQ(shared_of("weights"), "");
  const Buffer saved = clone_in("checkpoint", weights);
  EXPECT_EQ(shared_of("weights"), "1 of 64 bytes in checkpoint");
}

TEST_F(MemorySharers, of_untagged_data_are_known_if_a_scope_cloned_it) {
  const Buffer data = plain(64);
  {
    const Buffer clone = clone_in("checkpoint", data);
    EXPECT_EQ(shared_of("untagged"), "1 of 64 bytes in checkpoint");
    EXPECT_EQ(bytes_tagged("checkpoint"), "");
    EXPECT_TRUE(is_listening());
  }
  const Buffer clone = data;
  EXPECT_EQ(shared_of("untagged"), "");
  EXPECT_FALSE(is_listening());
}

TEST_F(MemorySharers, are_neither_pins_nor_atomic_variables) {
  std::byte memory[8];
  const Storage aliased(
      in("aliased", [&] { return Buffer::adopt_aliased(memory, 8, [](void*) {}); }));
  const Pin pin = aliased.pin_to_read();
  const AtomicBuffer place(tagged("stored", 64));
  EXPECT_EQ(shared_of("aliased") + shared_of("stored"), "");
  const Buffer loaded = in("reader", [&] { return place.load(); });
  EXPECT_EQ(shared_of("stored"), "1 of 64 bytes in reader");
}

TEST_F(MemorySharers, are_at_most_the_latest_four) {
  const Buffer weights = tagged("weights", 64);
  std::vector<Buffer> clones;
  for (const char* tag : {"1", "2", "3", "4", "5", "2"}) {
    clones.push_back(clone_in(tag, weights));
  }
  EXPECT_EQ(shared_of("weights"), "1 of 64 bytes in 2, 3, 4, 5");
}

TEST_F(MemorySharers, come_with_the_lines_of_recorded_clones) {
  const Buffer weights = tagged("weights", 64);
  std::vector<Buffer> clones{clone_in("checkpoint", weights, 1)};
  const Buffer untagged = plain(8);
  {
    const trace::Recording recording;
    clones.push_back(clone_in("checkpoint", weights, 2));
    clones.push_back(weights.lazy_clone({"model.cpp", 3}));
    clones.push_back(untagged.lazy_clone({"model.cpp", 4}));
    EXPECT_EQ(shared_of("weights"),
              "1 of 64 bytes in checkpoint, untagged at model.cpp:2, model.cpp:3");
    EXPECT_EQ(shared_of("untagged"), "1 of 8 bytes in untagged at model.cpp:4");
  }
  EXPECT_EQ(shared_of("weights"), "1 of 64 bytes in checkpoint, untagged");
  EXPECT_EQ(shared_of("untagged"), "");
}

TEST_F(MemorySharers, of_a_recording_end_with_it) {
  const Buffer data = plain(8);
  std::optional<trace::Recording> recording(std::in_place);
  const Buffer clone = data.lazy_clone();
  const ScopedTag scope("scope");
  recording.reset();
  EXPECT_EQ(shared_of("untagged"), "");
}

TEST_F(MemorySharers, are_grouped_and_sorted_by_bytes_and_names) {
  const Buffer data[] = {tagged("b", 64), tagged("b", 64), tagged("a", 128), tagged("c", 256)};
  std::vector<Buffer> clones;
  for (const Buffer& each : data) {
    clones.push_back(clone_in("x", each));
  }
  std::string order;
  for (const MemoryReport::Shared& shared : memory_report().shared) {
    order += shared.tag + std::to_string(shared.count) + " ";
  }
  EXPECT_EQ(order, "c1 a1 b2 ");
}

TEST_F(MemorySharers, of_tiles_are_those_of_the_table) {
  constexpr std::size_t tile = 64;
  std::optional<TiledBuffer> table;
  {
    const ScopedTag scope("table");
    table.emplace(100 * tile, aligned_allocator(), tile);
    table->write(0, std::vector<std::byte>(100 * tile, std::byte{1}));
  }
  std::optional<TiledBuffer> snapshot = clone_in("checkpoint", *table);
  EXPECT_EQ(shared_of("table"), "1 of 6400 bytes in checkpoint");
  table->mutable_tile(0);  // copies the root, a leaf and a tile
  EXPECT_EQ(shared_of("table"), "34 of 6336 bytes in checkpoint");  // 3 leaves and 31 tiles
  snapshot.reset();
  EXPECT_EQ(shared_of("table"), "");
}

TEST_F(MemorySharers, of_tiles_are_only_those_of_the_latest_snapshot) {
  constexpr std::size_t tile = 64;
  TiledBuffer table = in("table", [] {
    TiledBuffer made(100 * tile, aligned_allocator(), tile);
    made.write(0, std::vector<std::byte>(100 * tile, std::byte{1}));
    return made;
  });
  for (const char* const tag : {"old", "new"}) {
    const TiledBuffer snapshot = clone_in(tag, table);
    table.mutable_tile(0);
    EXPECT_EQ(shared_of("table"), std::string("34 of 6336 bytes in ") + tag);
  }
}

TEST_F(MemorySharers, of_tiles_include_a_snapshot_writer) {
  constexpr std::size_t tile = 64;
  class Nothing final : public SnapshotSink {
    void write(std::size_t, std::span<const std::byte>) override {}
    void commit() override {}
  } sink;
  TiledBuffer table = in("table", [] {
    TiledBuffer made(3 * tile, aligned_allocator(), tile);
    made.write(0, std::vector<std::byte>(3 * tile, std::byte{1}));
    return made;
  });
  std::optional<SnapshotWriter> writer;
  in("checkpoint", [&] { return writer.emplace(table, sink).nbytes(); });
  EXPECT_EQ(shared_of("table"), "3 of 192 bytes in checkpoint");
  writer->write_some(1);
  EXPECT_EQ(shared_of("table"), "2 of 128 bytes in checkpoint");
  writer.reset();
  EXPECT_EQ(shared_of("table"), "");
}

/// A report whose sums differ from each other.
MemoryReport report_of_sums() {
  MemoryReport report;
  report.nbytes = {1, 2, 3, 4, 5};
  report.idle = 6;
  report.overhead = 7;
  report.pinned = 8;
  report.pending = 9;
  report.on_devices = 10;
  return report;
}

TEST(MemoryReport, as_text_has_a_line_for_each_tag_and_shared_data) {
  MemoryReport report = report_of_sums();
  EXPECT_EQ(to_text(report),
            "byre: memory: 15 bytes: 1 allocated, 2 paged, 3 written in overlays, 4 adopted, 5 "
            "mapped; 6 idle in pools, 7 overhead, 8 pinned by overlays, 10 on devices, 9 read by "
            "pending copies.\n");
  EXPECT_EQ(report.total(), 18U);
  report.lost = 10;
  report.tags = {{"a", {1, 2, 3, 4, 0}}, {"untagged", {0, 0, 0, 0, 5}}};
  report.shared = {{"a", {"b", "c"}, {"model.cpp:1", "model.cpp:2"}, 3, 11},
                   {"b", {}, {}, 1, 2, true}};
  EXPECT_EQ(to_text(report).substr(to_text(report).find(" The tags")),
            " The tags of 10 bytes were lost.\n"
            "\n"
            "a: 10 bytes: 1 allocated, 2 paged, 3 written in overlays, 4 adopted, 0 mapped\n"
            "untagged: 5 bytes: 0 allocated, 0 paged, 0 written in overlays, 0 adopted, 5 mapped\n"
            "\n"
            "shared: 11 bytes of a\n"
            "  cloned in b\n"
            "  cloned in c\n"
            "  cloned at model.cpp:1\n"
            "  cloned at model.cpp:2\n"
            "left by writers: 2 bytes of b\n");
}

TEST(MemoryReport, as_json_has_all_members) {
  MemoryReport report = report_of_sums();
  report.lost = 10;
  report.tags = {{"\"a\"", {1, 2, 3, 4, 0}}, {"b", {}}};
  report.shared = {{"a", {"b", "c"}, {"model.cpp:1"}, 3, 11}, {"b", {}, {}, 1, 2, true}};
  EXPECT_EQ(
      to_json(report),
      "{\"allocated\": 1, \"paged\": 2, \"overlay\": 3, \"adopted\": 4, \"mapped\": 5, "
      "\"idle\": 6, \"overhead\": 7, \"total\": 18, \"pinned\": 8, \"on_devices\": 10, "
      "\"pending\": 9, \"lost\": 10, \"tags\": [\n"
      "  {\"name\": \"\\\"a\\\"\", \"allocated\": 1, \"paged\": 2, \"overlay\": 3, \"adopted\": 4, "
      "\"mapped\": 0, \"total\": 10},\n"
      "  {\"name\": \"b\", \"allocated\": 0, \"paged\": 0, \"overlay\": 0, \"adopted\": 0, "
      "\"mapped\": 0, \"total\": 0}], \"shared\": [\n"
      "  {\"tag\": \"a\", \"cloned_in\": [\"b\", \"c\"], \"cloned_at\": [\"model.cpp:1\"], "
      "\"count\": 3, \"nbytes\": 11, \"left_by_writers\": false},\n"
      "  {\"tag\": \"b\", \"cloned_in\": [], \"cloned_at\": [], \"count\": 1, \"nbytes\": 2, "
      "\"left_by_writers\": true}]}\n");
}

TEST(MemoryReport, is_refused_without_stats_and_scopes_do_nothing) {
  if (BYRE_STATS) {
    GTEST_SKIP() << "built with stats";
  }
  const ScopedTag scope("scope");
  EXPECT_THROW(memory_report(), InvalidArgument);
}

}  // namespace
}  // namespace byre::test
