// SPDX-License-Identifier: BSL-1.0
/// Writable clones: the bytes that they copy, and the source, which keeps its address.
/// stress/programs writes source and clone through pointers from before the clone.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/counted.hpp"
#include "support/features.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

class CountedClones : public WithStats {
 protected:
  void SetUp() override {
    if (!has_memory_files()) {
      GTEST_SKIP() << "the library does not use memory files";
    }
    WithStats::SetUp();
  }
};

constexpr std::size_t pages = paged_nbytes / page_nbytes;

/// Writes one byte in each of the first `count` pages.
void write_pages(std::byte* data, std::size_t count, std::byte value) {
  for (std::size_t page = 0; page < count; ++page) {
    data[page * page_nbytes] = value;
  }
}

TEST_F(CountedClones, a_clone_copies_nothing_and_the_source_keeps_its_address) {
  Buffer source = filled(std::byte{1});
  std::byte* const pointer = source.mutable_data();
  const Counted counted;
  const WatchedSystem system;
  Buffer clone = source.writable_clone();
  EXPECT_EQ(system.advised(MADV_DONTNEED).at(0).data, pointer)
      << "without MADV_DONTNEED, a fork waits for the unmapping";
  EXPECT_EQ(counted.since().bytes_copied, 0);
  EXPECT_EQ(counted.since().lazy_clones, 1);
  EXPECT_EQ(counted.since().overlays, 2);
  EXPECT_EQ(source.data(), pointer);
  EXPECT_EQ(source.mutable_data(), pointer);
  EXPECT_EQ(source.origin(), Origin::overlay);
  EXPECT_EQ(clone.origin(), Origin::overlay);
  EXPECT_TRUE(is_all(clone, std::byte{1}));
  EXPECT_TRUE(source.is_unique());
  EXPECT_TRUE(clone.is_unique());
}

TEST_F(CountedClones, a_clone_copies_the_pages_written_since_an_earlier_clone) {
  for (const std::size_t count : {std::size_t{3}, pages / 8}) {
    Buffer source = filled(std::byte{1});
    std::byte* const pointer = source.mutable_data();
    const Buffer first = source.writable_clone();
    write_pages(pointer, count, std::byte{2});
    const Counted counted;
    const Buffer second = source.writable_clone();
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(count * page_nbytes));
    EXPECT_EQ(counted.since().bytes_not_copied,
              static_cast<std::int64_t>(paged_nbytes - count * page_nbytes));
    EXPECT_EQ(counted.since().overlays, 1);
    write_pages(pointer, 3, std::byte{3});
    EXPECT_EQ(second.data()[0], std::byte{2});
    EXPECT_TRUE(is_all(first, std::byte{1}));
  }
}

TEST_F(CountedClones, clones_in_a_loop_copy_pages_written_since_the_last_clone) {
  Buffer source = filled(std::byte{1});
  std::byte* const pointer = source.mutable_data();
  std::optional<Buffer> snapshot = source.writable_clone();
  for (std::size_t round = 1; round < 20; ++round) {
    pointer[round * 10 * page_nbytes] = std::byte{2};
    snapshot.reset();
    const Counted counted;
    snapshot = source.writable_clone();
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(page_nbytes)) << round;
    EXPECT_EQ(snapshot->data()[round * 10 * page_nbytes], std::byte{2});
    EXPECT_EQ(source.data(), pointer);
  }
  std::memset(pointer, 3, paged_nbytes);
  snapshot.reset();
  const Counted counted;
  snapshot = source.writable_clone();  // writes all pages back to the file
  EXPECT_EQ(counted.since().overlays, 1);
  EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(paged_nbytes));
  EXPECT_TRUE(is_all(*snapshot, std::byte{3}));
  EXPECT_TRUE(is_all(source, std::byte{3}));
}

TEST_F(CountedClones, after_many_page_writes_source_and_clone_get_a_new_file) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  Buffer source = filled(std::byte{1});
  std::byte* const pointer = source.mutable_data();
  const Buffer first = source.writable_clone();
  write_pages(pointer, pages / 8 + 1, std::byte{2});
  const Counted counted;
  const WatchedSystem system;
  const Buffer second = source.writable_clone();
  EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(paged_nbytes));
  ASSERT_FALSE(system.ranges().empty());
  EXPECT_EQ(system.ranges().back().nbytes, paged_nbytes)
      << "without populated pages, lack of memory ends the process";
  EXPECT_TRUE(system.advised(collapse_advice).empty())
      << "a clone must not collapse pages, which may be slow";
  EXPECT_EQ(source.data(), pointer);
  write_pages(pointer, 2, std::byte{3});
  EXPECT_EQ(second.data()[0], std::byte{2});
  EXPECT_EQ(second.data()[1], std::byte{1});
  EXPECT_TRUE(is_all(first, std::byte{1}));
  const Counted later;
  const Buffer third = source.writable_clone();
  EXPECT_EQ(later.since().bytes_copied, static_cast<std::int64_t>(2 * page_nbytes));
  EXPECT_EQ(third.data()[0], std::byte{3});
}

TEST_F(CountedClones, with_writers_elsewhere_a_clone_never_moves_the_source) {
  Buffer source = filled(std::byte{1});
  source.writable_clone();
  const void* const file = source.memory_id();
  const auto clone = [&] {
    return source.writable_clone(Wait::allowed, CallSite::current(), Writers::elsewhere);
  };
  write_pages(source.mutable_data(), pages / 8, std::byte{2});
  {
    const Counted counted;
    const WatchedSystem system;
    const Buffer few = clone();
    EXPECT_TRUE(system.advised(MADV_DONTNEED).empty()) << "moved pages lose concurrent writes";
    EXPECT_EQ(counted.since().bytes_copied, paged_nbytes / 8);
    EXPECT_EQ(few.memory_id(), file);
    EXPECT_EQ(few.data()[0], std::byte{2});
  }
  write_pages(source.mutable_data(), pages / 8 + 1, std::byte{3});
  const Buffer many = clone();
  EXPECT_NE(many.memory_id(), file);
  EXPECT_EQ(source.memory_id(), file);
  EXPECT_EQ(many.data()[0], std::byte{3});
}

TEST_F(CountedClones, a_clone_of_shrunk_data_shares_pages_and_counts_copied_bytes) {
  Buffer source = filled(std::byte{1});
  source.resize(paged_nbytes / 2 - 100);
  std::byte* const pointer = source.mutable_data();
  const Buffer first = source.writable_clone();
  int value = 2;
  for (const std::size_t copied_nbytes : {source.nbytes(), paged_nbytes / 2}) {
    std::memset(pointer, ++value, source.nbytes());
    const Counted counted;
    // The first clone is made in a new file. The second clone shares that file.
    const Buffer clone = source.writable_clone();
    EXPECT_EQ(clone.origin(), Origin::overlay);
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(copied_nbytes));
    EXPECT_EQ(counted.since().bytes_not_copied, 0);
    EXPECT_TRUE(is_all(clone, static_cast<std::byte>(value)));
  }
  EXPECT_TRUE(is_all(first, std::byte{1}));
}

TEST(WritableClones, other_threads_can_read_the_source_during_creation) {
  Buffer source = filled(std::byte{1});
  const std::byte* const pointer = source.mutable_data();
  std::atomic<bool> ends = false;
  std::atomic<bool> is_right = true;
  std::thread reader([&] {
    while (!ends.load()) {
      for (std::size_t at = 0; at < paged_nbytes; at += page_nbytes) {
        is_right = is_right && pointer[at] == std::byte{1};
      }
    }
  });
  std::vector<Buffer> clones;
  for (int round = 0; round < 50; ++round) {
    clones.push_back(source.writable_clone());
  }
  ends = true;
  reader.join();
  EXPECT_TRUE(is_right);
}

TEST(WritableClones, a_clone_of_the_last_overlay_survives_a_fork_during_creation) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  for (const std::size_t round : {0U, 1U, 2U, 3U, 4U, 5U}) {
    const std::size_t runs_before_the_fork = round % 2;
    const bool is_clone_lazy = round / 2 == 2;
    std::optional<Buffer> file = filled(std::byte{1}, least_paged_nbytes);
    Buffer source = round / 2 == 1 ? file->writable_clone() : *file;
    std::byte* const pointer = source.mutable_data();
    file.reset();
    pointer[0] = std::byte{2};
    pointer[9 * page_nbytes] = std::byte{2};
    const auto is_right = [](const Buffer& buffer) {
      return buffer.data()[0] == std::byte{2} && buffer.data()[1] == std::byte{1} &&
             buffer.data()[9 * page_nbytes] == std::byte{2} &&
             buffer.data()[least_paged_nbytes - 1] == std::byte{1};
    };
    Buffer clone = is_clone_lazy ? source : Buffer();
    {
      WatchedSystem system;
      std::size_t runs = 0;
      system.before_populating = [&](const WatchedSystem::Range&) {
        if (runs++ == runs_before_the_fork) {
          in_a_child([&] { EXPECT_TRUE(is_right(source)); });
        }
      };
      if (is_clone_lazy) {
        EXPECT_EQ(clone.materialize(), Materialized::copied);
        EXPECT_EQ(std::memcmp(clone.data(), source.data(), least_paged_nbytes), 0);
      } else {
        clone = source.writable_clone();
      }
    }
    EXPECT_EQ(source.data(), pointer);
    EXPECT_TRUE(is_right(source));
    EXPECT_TRUE(is_right(clone));
  }
}

}  // namespace
}  // namespace byre::test
