// SPDX-License-Identifier: BSL-1.0
/// The pool under many threads at once.
#include <byre/memory/pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
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

/// Calls `visit` with one word of every 512 bytes, and the last.
template <class Visit>
void for_some_words(const Block& block, Visit visit) {
  auto* begin = static_cast<std::byte*>(block.data);
  for (std::size_t at = 0; at < block.capacity; at += 512) {
    visit(begin + at);
  }
  visit(begin + block.capacity - sizeof(std::uint64_t));
}

void write_stamp(const Stamped& stamped) {
  for_some_words(stamped.block,
                 [&](std::byte* word) { std::memcpy(word, &stamped.stamp, sizeof stamped.stamp); });
}

bool has_its_stamp(const Stamped& stamped) {
  bool intact = true;
  for_some_words(stamped.block, [&](const std::byte* word) {
    intact = intact && std::memcmp(word, &stamped.stamp, sizeof stamped.stamp) == 0;
  });
  return intact;
}

/// What one of the threads does: takes and releases blocks at random, its own ones alone.
class User {
 public:
  User(RecyclingPool& pool, std::uint64_t seed, std::size_t thread)
      : pool_(pool), random_(seed * 8 + thread), next_stamp_(std::uint64_t{thread} << 32) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      switch (random_.below(16)) {
        case 0:
          pool_.trim(4 * mib);
          break;
        case 1:
          pool_.set_limit_nbytes(random_.number(std::size_t{1}, std::size_t{16}) * mib);
          break;
        default:
          if (held_.size() < random_.number(std::size_t{1}, std::size_t{6})) {
            take();
          } else {
            release(random_.below(held_.size()));
          }
      }
    }
    while (!held_.empty()) {
      release(0);
    }
  }

  int overwritten = 0;

 private:
  void take() {
    // As many of 32 KiB as of 2 MiB, and few different ones, so that they are recycled.
    const std::size_t nbytes =
        (32 * kib << random_.below(7)) + random_.below(std::size_t{3}) * 5000;
    const Stamped taken{pool_.allocate({nbytes, 64}), ++next_stamp_};
    write_stamp(taken);
    held_.push_back(taken);
  }
  void release(std::size_t index) {
    const Stamped released = held_[index];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    overwritten += !has_its_stamp(released);
    pool_.deallocate(released.block);
  }

  RecyclingPool& pool_;
  Random random_;
  std::uint64_t next_stamp_;
  std::vector<Stamped> held_;
};

TEST(RecyclingPool, never_gives_the_same_memory_to_two_of_eight_threads) {
  const std::uint64_t chosen = seed();
  FakePages source;
  {
    RecyclingPool pool(16 * mib, source);
    at_once(8, [&](std::size_t thread) {
      User user(pool, chosen, thread);
      user.run(400);
      EXPECT_EQ(user.overwritten, 0);
    });
    EXPECT_LE(pool.idle_nbytes(), pool.limit_nbytes());
  }
  EXPECT_EQ(source.mapped(), 0U);
  EXPECT_EQ(source.wrong_unmaps(), 0);
  EXPECT_LT(source.maps(), 8 * 400) << "nothing was recycled";
}

TEST(RecyclingPool, never_gives_one_block_to_two_threads_that_do_nothing_else) {
  RecyclingPool pool(64 * mib);
  at_once(4, [&](std::size_t thread) {
    for (std::size_t round = 0; round < 20000; ++round) {
      const Block block = pool.allocate({64 * kib, 64});
      std::size_t& word = *::new (block.data) std::size_t(thread);
      if (round % 16 == 0) {
        boost::this_thread::yield();
      }
      ASSERT_EQ(word, thread);
      pool.deallocate(block);
    }
  });
  EXPECT_LE(pool.idle_nbytes(), 4 * 64 * kib) << "each thread held one at a time";
}

TEST(RecyclingPool, takes_back_on_one_thread_what_another_took) {
  FakePages source;
  RecyclingPool pool(64 * mib, source);
  const Block block = pool.allocate({mib, 64});
  elsewhere([&] { pool.deallocate(block); });
  const Block again = pool.allocate({mib, 64});
  EXPECT_EQ(again.data, block.data);
  pool.deallocate(again);
}

}  // namespace
}  // namespace byre::test
