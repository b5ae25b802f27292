// SPDX-License-Identifier: BSL-1.0
/// Snapshots that are written while the original is changed, within a budget.
#include <byre/memory/budget.hpp>
#include <byre/storage/tiles/snapshot_writer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "memory/budget_test.hpp"
#include "memory_sink.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/failing_allocator.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

/// A model of tiles, each filled with its own letter, the last one shorter, within a budget that
/// has no room for more tiles.
class SnapshotWriterTest : public testing::Test {
 protected:
  static constexpr std::size_t tiles = 5;
  static constexpr std::size_t nbytes = tiles * one_tile - 10;

  SnapshotWriterTest() {
    for (std::size_t index = 0; index < tiles; ++index) {
      fill(index, 'a');
    }
  }
  void fill(std::size_t index, char first) {
    const auto bytes = model.mutable_tile(index);
    std::memset(bytes.data(), first + static_cast<int>(index), bytes.size());
  }
  std::string all() const {
    std::string text(model.nbytes(), '?');
    model.read(0, std::as_writable_bytes(std::span(text)));
    return text;
  }
  void lend(std::size_t spare_tiles) { budget.set_limit((tiles + spare_tiles) * one_tile); }

  FailingAllocator memory;
  Budget budget{tiles * one_tile};
  BudgetedAllocator allocator{memory, budget};
  TiledBuffer model{nbytes, allocator, one_tile};
  MemorySink sink{nbytes};
};

TEST_F(SnapshotWriterTest, is_asked_before_reclaimers_that_exist) {
  int calls = 0;
  const Reclaimer earlier = budget.add_reclaimer([&](const Pressure&) -> std::size_t {
    ++calls;
    return 0;
  });
  SnapshotWriter writer(model, sink);
  fill(3, 'A');
  EXPECT_EQ(sink.order, std::vector<std::size_t>{3});
  EXPECT_EQ(calls, 0);
}

TEST_F(SnapshotWriterTest, writes_the_snapshot_and_drops_each_tile) {
  const std::string before = all();
  SnapshotWriter writer(model, sink);
  EXPECT_EQ(writer.nbytes(), nbytes);
  EXPECT_EQ(writer.nbytes_left(), nbytes);
  lend(tiles);
  fill(0, 'A');
  fill(4, 'A');
  EXPECT_EQ(budget.used(), (tiles + 2) * one_tile);
  EXPECT_EQ(writer.write_some(1), one_tile);
  EXPECT_EQ(budget.used(), (tiles + 1) * one_tile);
  EXPECT_EQ(writer.nbytes_left(), nbytes - one_tile);
  EXPECT_EQ(writer.write_some(one_tile + 1), 2 * one_tile);
  EXPECT_EQ(writer.write_some(0), 0U);
  EXPECT_EQ(sink.commits, 0);
  writer.finish();
  EXPECT_EQ(writer.nbytes_left(), 0U);
  EXPECT_EQ(budget.used(), tiles * one_tile);
  EXPECT_EQ(sink.bytes, before);
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(writer.write_some(1), 0U);
  writer.finish();
  EXPECT_EQ(sink.commits, 1);
}

TEST_F(SnapshotWriterTest, a_write_without_room_saves_its_tile_first) {
  const std::string before = all();
  SnapshotWriter writer(model, sink);
  const std::byte* const place = model.tile(3).data();
  fill(3, 'A');
  EXPECT_EQ(model.tile(3).data(), place);  // in place
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{3}));
  fill(4, 'A');
  fill(3, 'K');
  fill(0, 'A');
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{3, 4, 0}));
  EXPECT_EQ(budget.peak(), budget.limit());
  EXPECT_EQ(memory.allocations(), static_cast<int>(tiles));
  writer.finish();
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{3, 4, 0, 1, 2}));
  EXPECT_EQ(sink.bytes, before);
}

TEST_F(SnapshotWriterTest, with_room_writes_copy_and_save_nothing) {
  lend(2);
  SnapshotWriter writer(model, sink);
  fill(1, 'A');
  fill(2, 'A');
  EXPECT_TRUE(sink.order.empty());
  fill(3, 'A');
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{3}));
}

TEST_F(SnapshotWriterTest, an_allocation_makes_it_save_tiles_that_have_changed) {
  lend(2);
  SnapshotWriter writer(model, sink);
  fill(1, 'A');
  fill(3, 'A');
  const Buffer other = Buffer::allocate(2 * one_tile - 1, allocator);
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{1, 3}));
  EXPECT_THROW(Buffer::allocate(2, allocator), BudgetExceeded);  // the other tiles are shared
  EXPECT_EQ(sink.order.size(), 2U);
  writer.finish();
  EXPECT_EQ(sink.bytes.substr(one_tile, one_tile), std::string(one_tile, 'b'));
}

TEST_F(SnapshotWriterTest, a_write_copies_a_tile_that_another_clone_shares) {
  lend(1);
  const TiledBuffer other = model;
  SnapshotWriter writer(model, sink);
  fill(0, 'A');  // copied; the snapshot's tile is shared with `other`
  EXPECT_THROW(fill(1, 'A'), BudgetExceeded);
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{1}));
  EXPECT_EQ(all().substr(one_tile, one_tile), std::string(one_tile, 'b'));
}

TEST_F(SnapshotWriterTest, several_snapshots_of_one_model_all_let_go) {
  std::optional<MemorySink> sinks[2];
  std::optional<SnapshotWriter> writers[2];
  std::string expected[2];
  for (int number = 0; number < 2; ++number) {
    expected[number] = all();
    writers[number].emplace(model, sinks[number].emplace(nbytes));
    fill(2, static_cast<char>('A' + 5 * number));
  }
  fill(1, 'N');
  for (int number = 0; number < 2; ++number) {
    writers[number]->finish();
    EXPECT_EQ(sinks[number]->bytes, expected[number]);
  }
  EXPECT_EQ(budget.peak(), budget.limit());
}

TEST_F(SnapshotWriterTest, a_failing_sink_fails_the_snapshot_only) {
  SnapshotWriter writer(model, sink);
  sink.before_write = [](std::size_t) { throw std::runtime_error("the disk is full"); };
  fill(3, 'A');  // asks; the sink fails; the snapshot is given up
  EXPECT_EQ(all().substr(3 * one_tile, one_tile), std::string(one_tile, 'D'));
  EXPECT_EQ(writer.nbytes_left(), 0U);
  fill(1, 'A');
  EXPECT_EQ(memory.allocations(), static_cast<int>(tiles));
  sink.before_write = nullptr;
  for (int call = 0; call < 2; ++call) {
    EXPECT_THROW(writer.write_some(1), std::runtime_error);
    EXPECT_THROW(writer.finish(), std::runtime_error);
  }
  EXPECT_EQ(sink.commits, 0);
  EXPECT_TRUE(sink.order.empty());
}

TEST_F(SnapshotWriterTest, a_failure_of_its_own_thread_drops_the_tiles) {
  lend(1);
  SnapshotWriter writer(model, sink);
  fill(3, 'A');
  sink.before_write = [](std::size_t offset) {
    if (offset == 2 * one_tile) {
      throw std::runtime_error("the disk is full");
    }
  };
  EXPECT_THROW(writer.write_some(nbytes), std::runtime_error);
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(budget.used(), tiles * one_tile);
}

TEST_F(SnapshotWriterTest, a_failed_commit_is_reported_by_all_later_calls) {
  SnapshotWriter writer(model, sink);
  sink.before_commit = [] { throw std::runtime_error("the disk is full"); };
  EXPECT_THROW(writer.finish(), std::runtime_error);
  sink.before_commit = nullptr;
  EXPECT_THROW(writer.finish(), std::runtime_error);
  EXPECT_EQ(sink.commits, 0);
}

TEST_F(SnapshotWriterTest, is_not_committed_if_the_part_of_a_request_fails) {
  need_threads();
  for (int round = 0; round < 100; ++round) {
    MemorySink failing(nbytes);
    SnapshotWriter writer(model, failing);
    Halt halt;
    failing.before_write = [&](std::size_t offset) {
      if (offset == 2 * one_tile) {
        halt.enter();
        throw std::runtime_error("the disk is full");
      }
    };
    std::thread training([&] { fill(2, 'A'); });
    halt.await_entry();
    std::thread letting_go([&] {
      await([&] { return writer.nbytes_left() == one_tile; });
      halt.let_go();
    });
    EXPECT_THROW(writer.finish(), std::runtime_error);
    EXPECT_EQ(failing.commits, 0);
    training.join();
    letting_go.join();
  }
}

TEST_F(SnapshotWriterTest, a_request_of_the_sink_is_refused_at_the_limit) {
  SnapshotWriter writer(model, sink);
  sink.before_write = [&](std::size_t) { Buffer::allocate(1, allocator); };
  EXPECT_THROW(writer.finish(), BudgetExceeded);
  SnapshotWriter second(model, sink);
  sink.before_write = nullptr;
  sink.before_commit = [&] { Buffer::allocate(1, allocator); };
  EXPECT_THROW(second.finish(), BudgetExceeded);
}

TEST_F(SnapshotWriterTest, a_tile_is_dropped_before_its_part_is_done) {
  Generous generous;
  MemorySink saved(one_tile);
  SnapshotWriter writer(TiledBuffer(one_tile, generous, one_tile), saved);
  bool is_released = false;
  generous.at_release = [&] {
    is_released = true;
    EXPECT_EQ(writer.nbytes_left(), one_tile);
  };
  writer.finish();
  EXPECT_TRUE(is_released);
}

TEST_F(SnapshotWriterTest, a_write_of_a_tile_that_it_wrote_gets_room_of_changed_tiles) {
  lend(1);
  SnapshotWriter writer(model, sink);
  fill(3, 'A');  // copied: only the snapshot owns the former tile
  const TiledBuffer other = model;
  fill(0, 'A');  // saves tile 0, which `other` shares, and then tile 3
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(budget.peak(), budget.limit());
}

TEST_F(SnapshotWriterTest, one_of_two_threads_commits) {
  need_threads();
  SnapshotWriter writer(model, sink);
  Halt halt;
  std::atomic<int> begun{0};
  sink.before_commit = [&] {
    if (begun++ == 0) {
      halt.enter();
    }
  };
  std::thread first([&] { writer.finish(); });
  halt.await_entry();
  writer.finish();
  halt.let_go();
  first.join();
  EXPECT_EQ(begun, 1);
}

TEST_F(SnapshotWriterTest, its_end_drops_what_was_not_written) {
  {
    const SnapshotWriter writer(model, sink);
    EXPECT_FALSE(model.tile(0).empty());
  }
  fill(0, 'A');
  EXPECT_TRUE(sink.order.empty());
  EXPECT_EQ(memory.allocations(), static_cast<int>(tiles));
}

TEST_F(SnapshotWriterTest, an_empty_snapshot_is_committed) {
  SnapshotWriter writer(TiledBuffer(), sink);
  EXPECT_EQ(writer.write_some(1), 0U);
  writer.finish();
  EXPECT_EQ(sink.commits, 1);
  MemorySink other(0);
  SnapshotWriter(Buffer(), other).finish();
  EXPECT_EQ(other.commits, 1);
}

TEST_F(SnapshotWriterTest, a_snapshot_of_device_memory_is_refused) {
  FailingAllocator on_device{Device(3, 1)};
  EXPECT_TRUE(
      says(complaint_of<InvalidArgument>([&] { SnapshotWriter(TiledBuffer(1, on_device), sink); }),
           "memory of device 3:1", "Copy the bytes to the host first"));
  EXPECT_THROW(SnapshotWriter(Buffer::allocate(1, on_device), sink), InvalidArgument);
}

TEST_F(SnapshotWriterTest, a_request_waits_for_the_tile_that_another_thread_writes) {
  need_threads();
  SnapshotWriter writer(model, sink);
  Halt halt;
  sink.before_write = [&](std::size_t) { halt.enter(); };
  std::thread saving([&] { writer.write_some(1); });
  halt.await_entry();
  sink.before_write = [](std::size_t) { ADD_FAILURE() << "a second thread writes a tile"; };
  std::thread letting_go([&] { halt.let_go(); });
  fill(0, 'A');
  saving.join();
  letting_go.join();
  EXPECT_EQ(sink.order, (std::vector<std::size_t>{0}));
  EXPECT_EQ(memory.allocations(), static_cast<int>(tiles));
}

TEST_F(SnapshotWriterTest, an_allocation_waits_for_a_tile_that_is_being_written) {
  need_threads();
  lend(1);
  SnapshotWriter writer(model, sink);
  fill(0, 'A');  // the snapshot is the only owner of the former tile
  Halt halt;
  sink.before_write = [&](std::size_t) { halt.enter(); };
  std::thread saving([&] { writer.write_some(1); });
  halt.await_entry();
  std::thread letting_go([&] { halt.let_go(); });
  EXPECT_EQ(Buffer::allocate(one_tile, allocator).nbytes(), one_tile);
  saving.join();
  letting_go.join();
}

TEST_F(SnapshotWriterTest, finish_waits_for_a_tile_that_a_request_writes) {
  need_threads();
  SnapshotWriter writer(model, sink);
  Halt halt;
  sink.before_write = [&](std::size_t offset) {
    if (offset == 2 * one_tile) {
      halt.enter();
    }
  };
  sink.before_commit = [&] { EXPECT_EQ(sink.order.size(), tiles); };
  std::thread training([&] { fill(2, 'A'); });
  halt.await_entry();
  std::thread letting_go([&] {
    await([&] { return writer.nbytes_left() == one_tile; });
    halt.let_go();
  });
  writer.finish();
  EXPECT_EQ(sink.commits, 1);
  training.join();
  letting_go.join();
}

TEST_F(SnapshotWriterTest, random_writes_within_any_budget_keep_each_snapshot) {
  need_threads();
  Random random{seed()};
  for (int round = 0; round < 60; ++round) {
    lend(random.below(std::size_t{3}));
    const std::string before = all();
    MemorySink saved(nbytes);
    SnapshotWriter writer(model, saved);
    std::thread saving([&] { writer.finish(); });
    for (int step = 0; step < 30; ++step) {
      fill(random.below(tiles), static_cast<char>('A' + random.below(20)));
    }
    const std::string now = all();
    saving.join();
    EXPECT_EQ(saved.bytes, before);
    EXPECT_EQ(all(), now);
  }
  EXPECT_LE(budget.peak(), (tiles + 2) * one_tile);
  EXPECT_EQ(budget.used(), tiles * one_tile);
}

// ---- Files

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(SnapshotWriterTest, a_file_appears_when_the_snapshot_is_complete) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model";
  const std::string before = all();
  const std::string header = "header";
  {
    FileSink file(path, std::as_bytes(std::span(header)));
    SnapshotWriter writer(model, file);
    fill(4, 'A');
    writer.write_some(one_tile);
    EXPECT_FALSE(std::filesystem::exists(path));
    fill(2, 'A');
    writer.finish();
  }
  EXPECT_EQ(content_of(path), header + before);
  {
    FileSink file(path);
    SnapshotWriter writer(model, file);
    writer.write_some(one_tile);  // is not finished
  }
  EXPECT_EQ(content_of(path), header + before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace byre::test
