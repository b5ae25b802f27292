// SPDX-License-Identifier: BSL-1.0
/// The pool with many concurrent threads.
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "nbytes.hpp"
#include "support/at_once.hpp"
#include "support/fake_pages.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

struct Stamped {
  Block block;
  std::uint64_t stamp;
};

/// The first and the last word of the block.
std::array<std::byte*, 2> ends_of(const Block& block) {
  auto* const begin = static_cast<std::byte*>(block.data);
  return {begin, begin + block.capacity - sizeof(std::uint64_t)};
}

// Threads take and release random blocks, and stamp both ends of each block that they hold.
TEST(RecyclingPool, eight_threads_with_random_calls_never_get_the_same_memory) {
  constexpr int steps = 4000;
  const std::uint64_t chosen = seed();
  FakePages source;
  {
    RecyclingPool pool(16 * mib, source);
    at_once(8, [&](std::size_t thread) {
      Random random(chosen * 8 + thread);
      std::vector<Stamped> held;
      const auto release = [&](std::size_t index) {
        const Stamped released = held[index];
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
        for (const std::byte* const end : ends_of(released.block)) {
          EXPECT_EQ(std::memcmp(end, &released.stamp, sizeof released.stamp), 0);
        }
        pool.deallocate(released.block);
      };
      for (int step = 0; step < steps; ++step) {
        const auto choice = random.below(16);
        if (choice == 0) {
          pool.trim(4 * mib);
        } else if (choice == 1) {
          pool.set_limit_nbytes(random.number(std::size_t{1}, std::size_t{16}) * mib);
        } else if (held.size() < random.number(std::size_t{1}, std::size_t{6})) {
          // Few distinct sizes from 32 KiB to 2 MiB, equally likely, so that blocks are recycled.
          const std::size_t nbytes =
              (32 * kib << random.below(7)) + random.below(std::size_t{3}) * 5000;
          held.push_back(
              {pool.allocate({nbytes, 64}), thread * steps + static_cast<std::uint64_t>(step)});
          for (std::byte* const end : ends_of(held.back().block)) {
            std::memcpy(end, &held.back().stamp, sizeof held.back().stamp);
          }
        } else {
          release(random.below(held.size()));
        }
      }
      while (!held.empty()) {
        release(0);
      }
    });
    EXPECT_LE(pool.idle_nbytes(), pool.limit_nbytes());
  }
  EXPECT_EQ(source.mapped(), 0U);
  EXPECT_EQ(source.wrong_unmaps(), 0);
  EXPECT_LT(source.maps(), 8 * steps) << "nothing was recycled";
}

TEST(RecyclingPool, threads_that_only_allocate_and_free_never_get_the_same_block) {
  RecyclingPool pool(64 * mib);
  at_once(4, [&](std::size_t thread) {
    for (std::size_t round = 0; round < 20000; ++round) {
      const Block block = pool.allocate({64 * kib, 64});
      std::size_t& word = *::new (block.data) std::size_t(thread);
      if (round % 16 == 0) {
        std::this_thread::yield();
      }
      ASSERT_EQ(word, thread);
      pool.deallocate(block);
    }
  });
  EXPECT_LE(pool.idle_nbytes(), 4 * 64 * kib) << "each thread holds at most one block";
}

TEST(RecyclingPool, accepts_a_block_released_by_another_thread) {
  need_threads();
  FakePages source;
  RecyclingPool pool(64 * mib, source);
  const Block block = pool.allocate({mib, 64});
  on_another_thread([&] { pool.deallocate(block); });
  const Block again = pool.allocate({mib, 64});
  EXPECT_EQ(again.data, block.data);
  pool.deallocate(again);
}

}  // namespace
}  // namespace byre::test
