// SPDX-License-Identifier: BSL-1.0
// Tiled buffers that share tiles, on many threads and in children of forks.
#include "tiles.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/atomic/atomic.hpp>
#include <boost/thread/thread.hpp>
#include <chrono>
#include <utility>

#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/failing_allocator.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

constexpr std::chrono::seconds child_patience(60);

template <class Tiled>
class TilesAtOnce : public testing::Test {};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(TilesAtOnce, Widths);

TYPED_TEST(TilesAtOnce, writers_of_one_tile_make_one_copy_fewer_than_owners) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t tile = 5;
  FailingAllocator allocator;
  std::vector<TypeParam> clones(threads);
  std::size_t blocks_before = 0;
  int allocations_before = 0;
  run_rounds(
      threads, fewer_if_sanitized(2'000),
      [&](std::size_t) {
        clones.assign(threads, TypeParam());
        clones.assign(threads, tiled_of<TypeParam>(std::string(40, 'a'), allocator));
        blocks_before = allocator.blocks_out();
        allocations_before = allocator.allocations();
      },
      [&](std::size_t thread) { put(clones[thread], tile, static_cast<char>('0' + thread)); },
      [&](std::size_t) {
        EXPECT_EQ(allocator.allocations() - allocations_before, static_cast<int>(threads - 1));
        EXPECT_EQ(allocator.blocks_out(), blocks_before + threads - 1);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          std::string expected(40, 'a');
          expected[tile * 4] = static_cast<char>('0' + thread);
          EXPECT_EQ(text_of(clones[thread]), expected);
        }
      });
  clones.clear();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TYPED_TEST(TilesAtOnce, writers_of_different_tiles_copy_no_tile_twice) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  std::vector<TypeParam> clones(threads);
  int allocations_before = 0;
  run_rounds(
      threads, fewer_if_sanitized(1'000),
      [&](std::size_t) {
        clones.assign(threads, tiled_of<TypeParam>(std::string(40, 'a'), allocator));
        allocations_before = allocator.allocations();
      },
      [&](std::size_t thread) {
        TypeParam& own = clones[thread];
        put(own, thread, 'x');
        own.append(bytes_of("1234"));
        own = TypeParam(own);
        put(own, thread, 'y');
        own.truncate(40);
      },
      [&](std::size_t) {
        // Each copies the tile that it writes, and has one more; its own clone was dropped before it wrote.
        EXPECT_EQ(allocator.allocations() - allocations_before, static_cast<int>(2 * threads));
        for (std::size_t thread = 0; thread < threads; ++thread) {
          std::string expected(40, 'a');
          expected[thread * 4] = 'y';
          EXPECT_EQ(text_of(clones[thread]), expected);
        }
      });
}

TEST(TilesAtOnce, many_threads_clone_one_tiled_buffer_from_its_first_clone_on) {
  constexpr std::size_t threads = 4;
  TiledBuffer source;
  run_rounds(
      threads, fewer_if_sanitized(2'000),
      [&](std::size_t) { source = tiled_of<TiledBuffer>("aaaabbbb"); },
      [&](std::size_t) {
        TiledBuffer clone = source;
        put(clone, 1, 'x');
        EXPECT_EQ(text_of(clone), "aaaaxbbb");
        EXPECT_EQ(text_of(source), "aaaabbbb");
      },
      [&](std::size_t) { EXPECT_EQ(text_of(source), "aaaabbbb"); });
}

/// A write that stands still in the middle of a copy of a tile.
class TileCopyUnderWay : public testing::Test {
 protected:
  TileCopyUnderWay() : source_(tiled_of<TiledBuffer>("aaaabbbb", allocator_)), clone_(source_) {
    allocator_.halt_copy(copy_);
    writer_ = boost::thread([this] { put(clone_, 1, 'x'); });
    copy_.await_entry();
  }
  void let_go() {
    copy_.let_go();
    writer_.join();
  }

  FailingAllocator allocator_;
  Halt copy_;
  TiledBuffer source_;
  TiledBuffer clone_;
  boost::thread writer_;
};

TEST_F(TileCopyUnderWay, dropping_the_other_owner_waits_for_nobody) {
  source_ = TiledBuffer();
  let_go();
  EXPECT_EQ(text_of(clone_), "aaaaxbbb");
  EXPECT_EQ(allocator_.blocks_out(), 2U);
}

TEST_F(TileCopyUnderWay, the_last_owner_that_may_not_wait_copies_too) {
  put(source_, 1, 'y', Wait::never);
  put(source_, 0, 'z', Wait::never);
  EXPECT_EQ(text_of(source_), "zaaaybbb");
  let_go();
  EXPECT_EQ(text_of(clone_), "aaaaxbbb");
}

TEST_F(TileCopyUnderWay, a_range_is_written_without_waiting) {
  source_.write(4, bytes_of("1234"), Wait::never);
  EXPECT_EQ(text_of(source_), "aaaa1234");
  let_go();
  EXPECT_EQ(text_of(clone_), "aaaaxbbb");
}

TEST_F(TileCopyUnderWay, a_child_of_a_fork_copies_what_nobody_will_finish) {
  if (!heap_outlives_forks) {
    let_go();
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  const ChildResult child = run_in_child(
      [&](int) {
        TiledBuffer own = source_;
        source_ = TiledBuffer();
        own.mutable_tile(1, Wait::allowed)[0] = std::byte{'c'};
        ::_exit(own.tile(1)[0] == std::byte{'c'} ? EXIT_SUCCESS : EXIT_FAILURE);
      },
      child_patience);
  EXPECT_TRUE(child.exit.is_success()) << child.exit.text() << child.output;
  let_go();
  EXPECT_EQ(text_of(source_), "aaaabbbb");
}

}  // namespace
}  // namespace byre::test
