// SPDX-License-Identifier: BSL-1.0
// Owners on threads of their own, for thousands of rounds.
#include <byre/observe/counters.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "support/at_once.hpp"
#include "support/failing_allocator.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

constexpr std::size_t nbytes = 256;

Buffer filled(std::byte value, Allocator& allocator) {
  Buffer buffer = Buffer::allocate(nbytes, allocator);
  std::memset(buffer.mutable_data(), static_cast<int>(value), nbytes);
  return buffer;
}

bool holds_only(const Buffer& buffer, std::byte value) {
  for (std::size_t i = 0; i < nbytes; ++i) {
    if (buffer.data()[i] != value) {
      return false;
    }
  }
  return true;
}

/// A value of its own for each writer of each round.
std::byte stamp(std::size_t thread, std::size_t round) {
  return static_cast<std::byte>(1 + (thread + round) % 250);
}

TEST(OwnersAtOnce, writers_of_shared_data_make_one_copy_fewer_than_owners) {
  for (const std::size_t owners : {2U, 3U, 4U, 5U, 6U, 8U, 16U}) {
    FailingAllocator allocator;
    std::vector<Buffer> buffers(owners);
    std::vector<Materialized> outcomes(owners);
    std::size_t now = 0;
    run_rounds(
        owners, fewer_if_sanitized(1500),
        [&](std::size_t round) {
          now = round;
          const auto original = filled(std::byte{0}, allocator);
          std::fill(buffers.begin(), buffers.end(), original);
        },
        [&](std::size_t thread) {
          outcomes[thread] = buffers[thread].materialize();
          ASSERT_TRUE(holds_only(buffers[thread], std::byte{0}));
          std::memset(buffers[thread].mutable_data(), static_cast<int>(stamp(thread, now)), nbytes);
        },
        [&](std::size_t round) {
          EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), Materialized::copied), owners - 1);
          EXPECT_EQ(allocator.copies(), static_cast<int>((owners - 1) * (round + 1)));
          for (std::size_t thread = 0; thread < owners; ++thread) {
            EXPECT_TRUE(holds_only(buffers[thread], stamp(thread, round)));
          }
        });
    buffers.clear();
    EXPECT_EQ(allocator.blocks_out(), 0U);
    EXPECT_EQ(allocator.wrong_releases(), 0);
  }
}

TEST(OwnersAtOnce, first_lazy_clones_made_at_once_all_share_the_data) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  Buffer source;
  std::vector<Buffer> clones(threads);
  run_rounds(
      threads, fewer_if_sanitized(4000),
      [&](std::size_t) {
        clones.assign(threads, Buffer());
        source = filled(std::byte{7}, allocator);
      },
      [&](std::size_t thread) { clones[thread] = source.lazy_clone(); },
      [&](std::size_t) {
        EXPECT_EQ(source.use_count(), threads + 1);
        for (const Buffer& clone : clones) {
          EXPECT_TRUE(clone.shares_data_with(source));
          EXPECT_EQ(clone.data(), source.data());
        }
      });
  clones.clear();
  EXPECT_TRUE(source.is_unique());
  EXPECT_EQ(allocator.copies(), 0);
}

TEST(OwnersAtOnce, drops_that_race_copies_free_once_and_spoil_no_copy) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  std::vector<std::optional<Buffer>> buffers(threads);
  std::size_t now = 0;
  run_rounds(
      threads, fewer_if_sanitized(4000),
      [&](std::size_t round) {
        now = round;
        const auto original = filled(std::byte{9}, allocator);
        std::fill(buffers.begin(), buffers.end(), original);
      },
      [&](std::size_t thread) {
        if ((thread + now) % 2 == 0) {
          buffers[thread].reset();
        } else {
          buffers[thread]->mutable_data()[0] = std::byte{1};
          buffers[thread]->mutable_data()[0] = std::byte{9};
          EXPECT_TRUE(holds_only(*buffers[thread], std::byte{9}));
        }
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.blocks_out(), threads / 2);
        buffers.assign(threads, std::nullopt);
        EXPECT_EQ(allocator.blocks_out(), 0U);
      });
  EXPECT_EQ(allocator.wrong_releases(), 0);
}

TEST(OwnersAtOnce, clones_of_one_source_are_written_while_others_are_being_made) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  const auto source = filled(std::byte{5}, allocator);
  run_rounds(
      threads, fewer_if_sanitized(2000), [](std::size_t) {},
      [&](std::size_t thread) {
        Buffer clone = source;
        std::memset(clone.mutable_data(), static_cast<int>(thread) + 10, nbytes);
        const Buffer clone_of_clone = clone;
        EXPECT_TRUE(holds_only(clone_of_clone, static_cast<std::byte>(thread + 10)));
        EXPECT_TRUE(holds_only(source, std::byte{5}));
      },
      [&](std::size_t) { EXPECT_TRUE(source.is_unique()); });
  EXPECT_EQ(allocator.blocks_out(), 1U);
}

TEST(OwnersAtOnce, writers_that_never_wait_each_end_up_alone_with_their_own) {
  constexpr std::size_t threads = 4;
  FailingAllocator allocator;
  std::vector<Buffer> buffers(threads);
  run_rounds(
      threads, fewer_if_sanitized(3000),
      [&](std::size_t) {
        const auto original = filled(std::byte{3}, allocator);
        std::fill(buffers.begin(), buffers.end(), original);
      },
      [&](std::size_t thread) {
        std::byte* data = buffers[thread].mutable_data(Wait::never);
        EXPECT_TRUE(holds_only(buffers[thread], std::byte{3}));
        std::memset(data, static_cast<int>(thread), nbytes);
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.blocks_out(), threads);  // nothing of the original is left over
        for (std::size_t thread = 0; thread < threads; ++thread) {
          EXPECT_TRUE(buffers[thread].is_unique());
          EXPECT_TRUE(holds_only(buffers[thread], static_cast<std::byte>(thread)));
        }
      });
}

TEST(OwnersAtOnce, copies_that_fail_among_writers_leave_every_owner_with_the_data) {
  constexpr std::size_t threads = 3;
  FailingAllocator allocator;
  std::vector<Buffer> buffers(threads);
  std::vector<int> failures(threads);
  run_rounds(
      threads, fewer_if_sanitized(3000),
      [&](std::size_t round) {
        const auto original = filled(std::byte{4}, allocator);
        std::fill(buffers.begin(), buffers.end(), original);
        allocator.fail_copy(static_cast<int>(round % 3));
      },
      [&](std::size_t thread) {
        for (;;) {
          try {
            std::byte* data = buffers[thread].mutable_data();
            EXPECT_TRUE(holds_only(buffers[thread], std::byte{4}));
            std::memset(data, static_cast<int>(thread), nbytes);
            return;
          } catch (const FailingAllocator::CopyFailed&) {
            ++failures[thread];
            EXPECT_TRUE(holds_only(buffers[thread], std::byte{4}));
          }
        }
      },
      [&](std::size_t) {
        EXPECT_EQ(allocator.blocks_out(), threads);
        for (std::size_t thread = 0; thread < threads; ++thread) {
          EXPECT_TRUE(holds_only(buffers[thread], static_cast<std::byte>(thread)));
        }
      });
  EXPECT_GT(failures[0] + failures[1] + failures[2], 0);
}

#if BYRE_STATS

TEST(WritersAtOnce, the_last_owner_parks_until_copies_that_take_their_time_end) {
  constexpr std::size_t owners = 3;
  FailingAllocator allocator;
  std::vector<Buffer> buffers(owners);
  std::int64_t waits = 0;
  allocator.during_copy([&] { await([&] { return stats::snapshot().waits > waits; }); });
  run_rounds(
      owners, fewer_if_sanitized(500),
      [&](std::size_t) {
        const auto original = filled(std::byte{6}, allocator);
        std::fill(buffers.begin(), buffers.end(), original);
        waits = stats::snapshot().waits;
      },
      [&](std::size_t thread) {
        std::memset(buffers[thread].mutable_data(), static_cast<int>(thread), nbytes);
      },
      [&](std::size_t round) {
        EXPECT_EQ(allocator.copies(), static_cast<int>((owners - 1) * (round + 1)));
        for (std::size_t thread = 0; thread < owners; ++thread) {
          EXPECT_TRUE(holds_only(buffers[thread], static_cast<std::byte>(thread)));
        }
      });
  buffers.clear();
  EXPECT_EQ(allocator.blocks_out(), 0U);
}

#endif

}  // namespace
}  // namespace byre::test
