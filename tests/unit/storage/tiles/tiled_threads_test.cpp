// SPDX-License-Identifier: BSL-1.0
// Tiled buffers that share tiles, on many threads and in children of forks.
#include "tiles.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/thread/thread.hpp>
#include <chrono>
#include <utility>

#include "support/at_once.hpp"
#include "support/child_process.hpp"
#include "support/failing_allocator.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

template <class Tiled>
class TilesAtOnce : public testing::Test {};
using Widths = testing::Types<TiledBuffer, NarrowTiles>;
TYPED_TEST_SUITE(TilesAtOnce, Widths);

/// Each of four threads has a clone of forty bytes, and calls `write` with it. Then that many allocations were made,
/// and each clone has 'y' or its number in the tile that it wrote.
template <class Tiled>
void write_at_once(bool is_one_tile, int allocations) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  std::vector<Tiled> clones(threads);
  int allocations_before = 0;
  const auto tile_of = [&](std::size_t thread) { return is_one_tile ? 5 : thread; };
  const auto letter_of = [&](std::size_t thread) { return static_cast<char>('0' + thread); };
  run_rounds(
      threads, fewer_if_sanitized(2'000),
      [&](std::size_t) {
        clones.assign(threads, Tiled());
        clones.assign(threads, tiled_of<Tiled>(std::string(40, 'a'), allocator));
        allocations_before = allocator.allocations();
      },
      [&](std::size_t thread) {
        Tiled& own = clones[thread];
        put(own, tile_of(thread), letter_of(thread));
        if (!is_one_tile) {
          own.append(bytes_of("1234"));
          own = Tiled(own);
          put(own, thread, letter_of(thread));
          own.truncate(40);
        }
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.allocations() - allocations_before, allocations);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          std::string expected(40, 'a');
          expected[tile_of(thread) * 4] = letter_of(thread);
          EXPECT_EQ(text_of(clones[thread]), expected);
        }
      });
  clones.clear();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

TYPED_TEST(TilesAtOnce, writers_of_one_tile_make_one_copy_fewer_than_owners) {
  write_at_once<TypeParam>(true, 4 - 1);
}

// Each copies the tile that it writes, and has one more; its own clone was dropped before it wrote.
TYPED_TEST(TilesAtOnce, writers_of_different_tiles_copy_no_tile_twice) {
  write_at_once<TypeParam>(false, 4 + 4);
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

TEST(TilesAtOnce, a_child_of_a_fork_copies_the_tile_that_its_parent_was_copying) {
  if (!heap_outlives_forks) {
    GTEST_SKIP() << "this sanitizer's malloc is not safe across forks";
  }
  FailingAllocator allocator;
  Halt copy;
  auto source = tiled_of<TiledBuffer>("aaaabbbb", allocator);
  TiledBuffer clone = source;
  allocator.halt_copy(copy);
  boost::thread writer([&] { put(clone, 1, 'x'); });
  copy.await_entry();
  const ChildResult child = run_in_child(
      [&](int) {
        TiledBuffer own = source;
        source = TiledBuffer();
        own.mutable_tile(1, Wait::allowed)[0] = std::byte{'c'};
        ::_exit(own.tile(1)[0] == std::byte{'c'} ? EXIT_SUCCESS : EXIT_FAILURE);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(child.exit.is_success()) << child.exit.text() << child.output;
  copy.let_go();
  writer.join();
  EXPECT_EQ(text_of(source), "aaaabbbb");
}

}  // namespace
}  // namespace byre::test
