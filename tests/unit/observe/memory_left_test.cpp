// SPDX-License-Identifier: BSL-1.0
/// Data that writers have left to other owners, in memory reports.
#include <byre/byre.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/array.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/budget_test.hpp"
#include "support/queued_device.hpp"
#include "tagged.hpp"

namespace byre::test {
namespace {

class LeftData : public MemoryReports {};

TEST_F(LeftData, names_the_clones_that_hold_it) {
  Buffer state = tagged("state", 64);
  std::optional<Buffer> saved = clone_in("checkpoint", state);
  EXPECT_EQ(left_of("state"), "");
  state.mutable_data();
  EXPECT_EQ(bytes_tagged("state"), "128 allocated");
  EXPECT_EQ(shared_of("state"), "");
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint");
  saved.reset();
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(LeftData, excludes_data_whose_clone_was_dropped_before_the_write) {
  Buffer state = tagged("state", 64);
  clone_in("checkpoint", state);
  state.mutable_data();
  const Buffer writable = state.writable_clone();  // copies data that no writer leaves
  EXPECT_EQ(bytes_tagged("state"), "128 allocated");
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(LeftData, ends_when_the_clone_that_was_written_is_dropped) {
  const Buffer weights = tagged("weights", 64);
  std::optional<Buffer> request = clone_in("request", weights);
  request->mutable_data();
  EXPECT_EQ(left_of("weights"), "1 of 64 bytes in request");
  request.reset();
  EXPECT_EQ(left_of("weights"), "");
}

TEST_F(LeftData, ends_when_its_writer_is_dropped_and_no_copy_remains) {
  std::optional<Buffer> state = tagged("state", 64);
  const std::optional<Buffer> saved = clone_in("checkpoint", *state);
  state->mutable_data();
  state.reset();
  EXPECT_EQ(bytes_tagged("state"), "64 allocated");
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(LeftData, of_several_snapshots_is_listed_until_each_is_dropped) {
  Buffer state = tagged("state", 64);
  std::vector<std::optional<Buffer>> saved;
  for (const char* const tag : {"1", "2", "3", "4"}) {
    saved.push_back(clone_in(tag, state));
    state.mutable_data();
  }
  const auto listed = [](const char* tag) { return std::string("1 of 64 bytes in ") + tag; };
  EXPECT_EQ(left_of("state"),
            listed("1") + "; " + listed("2") + "; " + listed("3") + "; " + listed("4"));
  saved[1].reset();  // its data is a copy of that of the first one
  EXPECT_EQ(left_of("state"), listed("1") + "; " + listed("3") + "; " + listed("4"));
  saved[0].reset();
  saved[3].reset();
  EXPECT_EQ(left_of("state"), listed("3"));
  saved[2].reset();
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(LeftData, is_also_shared_if_several_owners_remain) {
  Buffer state = tagged("state", 64);
  const std::optional<Buffer> saved = clone_in("checkpoint", state);
  std::optional<Buffer> evaluated = clone_in("evaluation", state);
  state.mutable_data();
  EXPECT_EQ(shared_of("state"), "1 of 64 bytes in checkpoint, evaluation");
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint, evaluation");
  const std::vector<MemoryReport::Shared> both = memory_report().shared;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(!both[0].left_by_writers && both[1].left_by_writers);
  evaluated.reset();
  const std::optional<Buffer> sent = clone_in("upload", *saved);
  EXPECT_EQ(shared_of("state"), "1 of 64 bytes in upload");
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint, evaluation");
}

TEST_F(LeftData, lists_resized_data) {
  Array<char> state = in("state", [] { return Array<char>::filled(64, 1, aligned_allocator()); });
  const Array<char> saved = in("checkpoint", [&] { return state; });
  state.resize(1000);
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint");
}

TEST_F(LeftData, is_listed_after_a_resize_of_the_copy_or_of_the_clone) {
  Buffer state = tagged("state", 64);
  Buffer saved = clone_in("checkpoint", state);
  state.mutable_data();
  state.resize(1000);
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint");
  saved.resize(1000);
  EXPECT_EQ(left_of("state"), "1 of " + std::to_string(saved.capacity()) + " bytes in checkpoint");
  saved = Buffer();
  EXPECT_EQ(left_of("state"), "");
}

TEST_F(LeftData, lists_tagged_data_whose_clone_is_untagged) {
  Buffer state = tagged("state", 64);
  const Buffer saved = state;
  state.mutable_data();
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in untagged");
}

TEST_F(LeftData, lists_untagged_data_if_a_scope_cloned_it) {
  Buffer state = plain(64);
  std::optional<Buffer> saved = clone_in("checkpoint", state);
  state.mutable_data();
  EXPECT_EQ(left_of("untagged"), "1 of 64 bytes in checkpoint");
  EXPECT_EQ(bytes_tagged("checkpoint"), "");
  saved.reset();
  EXPECT_FALSE(is_listening());
}

TEST_F(LeftData, excludes_untagged_data_that_no_scope_cloned) {
  Buffer state = plain(64);
  std::optional<Buffer> saved;
  {
    const trace::Recording recording;
    saved = state;
    state.mutable_data();
    EXPECT_EQ(left_of("untagged"), "");
  }
  EXPECT_FALSE(is_listening());
}

TEST_F(LeftData, includes_tiles_that_the_table_has_rewritten) {
  constexpr std::size_t tile = 64;
  TiledBuffer table = in("table", [] {
    TiledBuffer made(100 * tile, aligned_allocator(), tile);
    made.write(0, std::vector<std::byte>(100 * tile, std::byte{1}));
    return made;
  });
  std::optional<TiledBuffer> snapshot = clone_in("checkpoint", table);
  table.mutable_tile(0);
  EXPECT_EQ(left_of("table"), "1 of 64 bytes in checkpoint");
  EXPECT_EQ(shared_of("table"), "34 of 6336 bytes in checkpoint");
  for (std::size_t index = 1; index < 100; ++index) {
    table.mutable_tile(index);
  }
  EXPECT_EQ(left_of("table"), "100 of 6400 bytes in checkpoint");
  EXPECT_EQ(shared_of("table"), "");
  snapshot.reset();
  table.mutable_tile(0);
  EXPECT_EQ(left_of("table"), "");
}

TEST_F(LeftData, of_tiles_names_only_the_latest_clone_of_the_table) {
  constexpr std::size_t tile = 64;
  TiledBuffer table(100 * tile, aligned_allocator(), tile);
  table.write(0, std::vector<std::byte>(100 * tile, std::byte{1}));
  clone_in("checkpoint", table).mutable_tile(0);
  const TiledBuffer other = table;  // outside of all scopes
  table.mutable_tile(40);
  EXPECT_EQ(left_of("untagged"), "");
  EXPECT_EQ(shared_of("untagged"), "");
}

TEST_F(LeftData, includes_sources_of_deferred_copies) {
  QueuedDevice device(CopiesEnd::later);
  Buffer state = in("state", [&] { return Buffer::allocate(64, device); });
  std::optional<Buffer> saved = clone_in("checkpoint", state);
  state.mutable_data();
  EXPECT_EQ(left_of("state"), "1 of 64 bytes in checkpoint");
  saved.reset();  // the pending copy still reads the data
  EXPECT_EQ(left_of("state"), "");
  EXPECT_EQ(bytes_tagged("state"), "128 allocated");
  device.run();
  EXPECT_EQ(bytes_tagged("state"), "64 allocated");
}

TEST_F(LeftData, excludes_data_that_reuses_the_header_of_a_released_source) {
  const Buffer other = tagged("other", 64);
  const Buffer clone = clone_in("checkpoint", other);
  const Buffer copy = tagged("copy", 64);
  stats::detail::DataFacts released = other.facts();
  released.data = nullptr;
  stats::detail::ledger::inherit(released, copy.facts(), stats::detail::ledger::AfterCopy::left);
  EXPECT_EQ(left_of("other"), "");
}

TEST_F(MemoryReports, bytes_on_devices_are_allocated_but_not_in_the_total) {
  Generous device(Device(1, 0));  // returns blocks that are larger by 50 bytes
  { TiledBuffer(page_nbytes, aligned_allocator(), page_nbytes).mutable_tile(0); }
  const MemoryReport before = memory_report();
  std::byte memory[8];
  std::optional<Buffer> allocated = Buffer::allocate(950, device);
  const Buffer adopted_on_host = Buffer::adopt(
      memory, 8, [](void*) {}, aligned_allocator());
  std::optional<Buffer> adopted = Buffer::adopt(
      memory, 8, [](void*) {}, device);
  const Buffer borrowed = Buffer::borrow(memory, 8, device);
  const Buffer on_host = plain(64);
  const MemoryReport with = memory_report();
  EXPECT_EQ(with.nbytes.total(), before.nbytes.total() + 1080);
  EXPECT_EQ(with.on_devices, before.on_devices + 1008);
  EXPECT_EQ(with.total(), before.total() + 72);
  allocated.reset();
  EXPECT_EQ(memory_report().on_devices, before.on_devices + 8);
  adopted.reset();
  EXPECT_EQ(memory_report().on_devices, before.on_devices);
}

}  // namespace
}  // namespace byre::test
