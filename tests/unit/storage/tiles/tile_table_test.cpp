// SPDX-License-Identifier: BSL-1.0
// The table of a tiled buffer: which nodes are created and copied, counted through operator new;
// and operations on a node while another thread copies it.
#include "tiles.hpp"

#include <byre/error/error.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/recording.hpp>
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "pages/children.hpp"
#include "support/at_once.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/failing_allocator.hpp"
#include "support/failing_new.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

constexpr const char* eight_tiles = "aaaabbbbccccddddeeeeffffgggghhhh";

/// The number of nodes that `act` created and did not destroy. The headers of small tiles are in
/// the blocks of their data, so only nodes come from operator new.
template <class Act>
std::ptrdiff_t nodes_made_by(Act act) {
  const std::ptrdiff_t before = live_new_count;
  act();
  return live_new_count - before;
}

TEST(TileTable, has_only_the_nodes_its_tiles_need) {
  for (const auto& [tiles, nodes] : {std::pair(1, 1), {2, 1}, {3, 3}, {4, 3}, {5, 6}, {8, 7}}) {
    NarrowTiles tiled;
    EXPECT_EQ(nodes_made_by([&, count = std::size_t(tiles)] {
                tiled = NarrowTiles(4 * count, aligned_allocator(), 4);
              }),
              nodes)
        << tiles;
  }
}

TEST(TileTable, a_write_copies_only_the_path_to_its_tile) {
  const auto source = tiled_of<NarrowTiles>(eight_tiles, aligned_allocator());
  NarrowTiles clone = source;
  EXPECT_EQ(nodes_made_by([&] { put(clone, 5, 'x'); }), 3);
  EXPECT_EQ(nodes_made_by([&] { put(clone, 4, 'x'); }), 0);
  EXPECT_EQ(nodes_made_by([&] { put(clone, 6, 'x'); }), 1);
  EXPECT_EQ(nodes_made_by([&] { put(clone, 0, 'x'); }), 2);
}

TEST(TileTable, truncate_copies_only_the_path_to_the_cut) {
  const auto source = tiled_of<NarrowTiles>(eight_tiles, aligned_allocator());
  for (const auto& [nbytes, nodes] : {std::pair(31, 0), {28, 3}, {24, 2}, {16, 1}, {12, 3}}) {
    NarrowTiles clone = source;
    EXPECT_EQ(nodes_made_by([&, kept = std::size_t(nbytes)] { clone.truncate(kept); }), nodes)
        << nbytes;
  }
}

TEST(TileTable, stays_shared_if_the_first_new_tile_cannot_be_allocated) {
  FailingAllocator allocator;
  const auto source = tiled_of<NarrowTiles>(eight_tiles, allocator);
  NarrowTiles clone = source;
  allocator.fail_allocation(0);
  EXPECT_THROW(clone.append(bytes_of("x")), OutOfMemory);
  EXPECT_TRUE(clone.shares_data_with(source));
}

TEST(TileTable, a_failed_node_copy_leaves_no_extra_owner) {
  for (int level = 2; level >= 0; --level) {
    auto source = tiled_of<NarrowTiles>(eight_tiles, aligned_allocator());
    NarrowTiles clone = source;
    {
      const FailingNew failing(2 - level);
      EXPECT_THROW(put(clone, 1, 'x'), OutOfMemory);
    }
    EXPECT_EQ(text_of(clone), eight_tiles);
    clone = NarrowTiles();
    EXPECT_EQ(nodes_made_by([&] { put(source, 1, 'y', Wait::never); }), 0) << level;
  }
}

TEST(TileTable, out_of_memory_reports_the_size_of_the_node) {
  auto source = tiled_of<TiledBuffer>(eight_tiles, aligned_allocator());
  TiledBuffer clone = source;
  const std::string text = complaint_of<OutOfMemory>([&] {
    const FailingNew failing;
    put(clone, 0, 'x');
  });
  EXPECT_TRUE(says(text, "heap, for a table of tiles"));
  const std::size_t number = text.find_first_of("0123456789");
  ASSERT_NE(number, std::string::npos) << text;
  EXPECT_GE(std::stoul(text.substr(number)), 32 * sizeof(Buffer)) << text;
}

/// A write that is halted in the middle of a copy of a node: the root, or a node below it. The
/// random programs run other steps in the middle of such copies: writes that never wait, and drops.
struct HaltedNodeCopy {
  explicit HaltedNodeCopy(int nodes_above)
      : source(tiled_of<NarrowTiles>(eight_tiles, allocator)), clone(source) {
    halted_ = &copy;
    nodes_above_ = nodes_above;
    writer = std::thread([this] {
      before_next_new = &halt_at_node;
      put(clone, 1, 'x');
    });
    copy.await_entry();
  }
  void let_go() {
    copy.let_go();
    writer.join();
    EXPECT_EQ(text_of(clone), "aaaaxbbbccccddddeeeeffffgggghhhh");
  }
  /// The other owner writes the same tile, and has to wait for the copy.
  void write_meanwhile() {
    const Counted counted;
    std::thread last_owner([&] { put(source, 1, 'y'); });
    await([&] { return counted.since().waits != 0; });
    let_go();
    last_owner.join();
    EXPECT_EQ(text_of(source), "aaaaybbbccccddddeeeeffffgggghhhh");
    source = NarrowTiles();
    clone = NarrowTiles();
    EXPECT_EQ(allocator.blocks_out(), 0U);
  }

  FailingAllocator allocator;
  Halt copy;
  NarrowTiles source;
  NarrowTiles clone;
  std::thread writer;

 private:
  static void halt_at_node() {
    if (nodes_above_-- == 0) {
      halted_->enter();
    } else {
      before_next_new = &halt_at_node;
    }
  }

  static inline Halt* halted_ = nullptr;
  static inline int nodes_above_ = 0;
};

class NodeCopyUnderWay : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(AtAnyLevel, NodeCopyUnderWay, testing::Range(0, 3));

TEST_P(NodeCopyUnderWay, the_last_owner_waits_then_steals_the_node) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  HaltedNodeCopy(GetParam()).write_meanwhile();
}

TEST_P(NodeCopyUnderWay, a_forked_child_copies_instead_of_waiting) {
  if (!heap_outlives_forks) {
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  HaltedNodeCopy under_way(GetParam());
  in_a_child([&] {
    put(under_way.source, 1, 'c');
    EXPECT_EQ(under_way.source.tile(1)[0], std::byte{'c'});
  });
  under_way.let_go();
  EXPECT_EQ(text_of(under_way.source), eight_tiles);
}

TEST(TileTable, a_forked_child_copies_a_tile_its_parent_was_copying) {
  if (!heap_outlives_forks) {
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  FailingAllocator allocator;
  Halt copy;
  auto source = tiled_of<NarrowTiles>(eight_tiles, allocator);
  NarrowTiles clone = source;
  allocator.halt_copy(copy);
  std::thread writer([&] { put(clone, 1, 'x'); });
  copy.await_entry();
  in_a_child([&] {
    NarrowTiles own = source;
    source = NarrowTiles();
    put(own, 1, 'c');
    EXPECT_EQ(own.tile(1)[0], std::byte{'c'});
  });
  copy.let_go();
  writer.join();
  EXPECT_EQ(text_of(source), eight_tiles);
}

// The copy is made to fail, so that its thread does not make another copy for which a writer could
// wait.
TEST(TileTable, a_wait_for_a_node_copy_is_recorded) {
  if (!BYRE_STATS) {
    GTEST_SKIP() << "built without stats";
  }
  NarrowTiles source = tiled_of<NarrowTiles>(eight_tiles);
  NarrowTiles clone = source;
  static Halt* halted = nullptr;
  Halt copy;
  halted = &copy;
  const trace::Recording recording;
  std::thread writer([&] {
    before_next_new = [] { halted->enter(); };
    const FailingNew failing;
    EXPECT_THROW(put(clone, 1, 'x'), OutOfMemory);
  });
  copy.await_entry();
  const Counted counted;
  std::thread last_owner([&] { put(source, 1, 'y'); });
  await([&] { return counted.since().waits != 0; });
  copy.let_go();
  writer.join();
  last_owner.join();
  EXPECT_FALSE(says(recording.summary(), " 0 waits for copies")) << recording.summary();
}

TEST(TileTable, writers_in_a_forked_child_wait_for_node_copies_in_the_child) {
  if (!heap_outlives_forks || !BYRE_STATS) {
    GTEST_SKIP() << "needs stats, and a malloc that is safe across forks";
  }
  in_a_child([] { HaltedNodeCopy(0).write_meanwhile(); });
}

/// sync::Default with a count of the reads of handles.
struct CountingReads : sync::Default {
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }
  template <class Value>
  struct Plain : sync::Default::Plain<Value> {
    using sync::Default::Plain<Value>::Plain;
    Value get() const noexcept {
      ++read_count;
      return sync::Default::Plain<Value>::get();
    }
  };
  static inline std::size_t read_count = 0;
};

TEST(TileTable, comparison_visits_only_nodes_that_differ) {
  using Tiled = basic_tiled_buffer<CountingReads, 2>;
  const auto source = tiled_of<Tiled>(std::string(1024, 'a'), default_allocator(), 1);
  Tiled clone = source;
  const auto read_count = [&](std::size_t differ) {
    CountingReads::read_count = 0;
    EXPECT_EQ(differences(source, clone).size(), differ);
    return CountingReads::read_count;
  };
  EXPECT_LE(read_count(0), 2U);
  put(clone, 700, 'b');
  EXPECT_LE(read_count(1),
            2U * 2U * 11U);  // in both trees: ten nodes with two handles, and a tile
}

}  // namespace
}  // namespace byre::test
