// SPDX-License-Identifier: BSL-1.0
/// The pages of a file beneath writable clones: when they are freed, kept, or collapsed to huge
/// pages.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/features.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// The memory that this process's memory files use.
std::size_t memory_files_nbytes() {
  std::size_t nbytes = 0;
  for (const auto& [number, name] : open_files()) {
    nbytes += is_memory_file(name) ? memory_nbytes(number) : 0;
  }
  return nbytes;
}

class UnderlyingPages : public testing::Test {
 protected:
  void SetUp() override {
    write(0, 1, 2);
    if (detail::count_written_pages(source_.data(), paged_nbytes) == 0) {
      GTEST_SKIP() << "the system does not report written pages";
    }
    restart(paged_nbytes);
  }

  /// Replaces the source with new data, and the clone with a writable clone of this data.
  void restart(std::size_t nbytes) {
    clone_.reset();
    source_ = filled(std::byte{1}, nbytes);
    before_ = memory_files_nbytes();
    clone_ = source_.writable_clone();
  }
  void write(std::size_t offset, std::size_t nbytes, int value) {
    std::memset(source_.mutable_data() + offset, value, nbytes);
  }
  void expect_freed(std::size_t nbytes) const {
    EXPECT_EQ(memory_files_nbytes() + nbytes, before_);
  }

  Buffer source_ = filled(std::byte{1});
  std::optional<Buffer> clone_ = source_.writable_clone();
  std::size_t before_ = 0;
};

TEST_F(UnderlyingPages, are_freed_if_the_only_remaining_overlay_has_written_them) {
  for (const bool has_scan : {true, false}) {
    WatchedSystem system;
    system.has_pagemap_scan = has_scan;
    restart(paged_nbytes);
    std::optional<Buffer> other = source_.writable_clone();
    Buffer lazy = source_;
    system.refuse_maps(1);
    // This creation of an overlay fails. Afterwards, it must not count as still in progress.
    EXPECT_EQ(lazy.materialize(), Materialized::copied);
    lazy = Buffer();
    write(0, paged_nbytes, 2);
    clone_.reset();
    expect_freed(0);
    EXPECT_TRUE(is_all(*other, std::byte{1}));
    other.reset();
    expect_freed(paged_nbytes);
    EXPECT_TRUE(is_all(source_, std::byte{2}));
    const Buffer second = source_.writable_clone();
    EXPECT_TRUE(is_all(second, std::byte{2}));
    EXPECT_TRUE(is_all(source_, std::byte{2}));
    expect_freed(0);
  }
}

TEST_F(UnderlyingPages, are_freed_in_whole_huge_pages) {
  Buffer neighbor = filled(std::byte{1});  // freeing pages beyond the source would free its pages
  neighbor.writable_clone();
  std::memset(neighbor.mutable_data(), 2, paged_nbytes);
  constexpr std::size_t half = huge_page_nbytes / 2;  // only whole huge pages are freed
  constexpr std::size_t large = std::size_t{64} << 20;
  for (const std::size_t nbytes : {paged_nbytes, large + 2 * huge_page_nbytes}) {
    restart(nbytes);
    write(half, 4 * half, 2);
    write(6 * half, nbytes - 6 * half, 2);
    const WatchedSystem system;
    clone_.reset();
    expect_freed(nbytes - 4 * half);
    for (std::size_t at = 0; at < nbytes; at += page_nbytes) {
      const bool is_written = at / half != 0 && at / half != 5;
      ASSERT_EQ(source_.data()[at], is_written ? std::byte{2} : std::byte{1}) << at;
    }
    std::size_t removed_nbytes = 0;
    for (const WatchedSystem::Range& range : system.advised(MADV_REMOVE)) {
      removed_nbytes += range.nbytes;
    }
    EXPECT_EQ(removed_nbytes, nbytes - 4 * half) << "pages of the neighbor must stay";
  }
}

TEST_F(UnderlyingPages, are_freed_if_more_than_an_eighth_was_written) {
  constexpr std::size_t most = least_paged_nbytes / 8;
  restart(least_paged_nbytes);
  write(0, most, 2);
  clone_.reset();
  expect_freed(0);
  clone_ = source_.writable_clone();
  write(0, most, 3);
  write(most + page_nbytes, 1, 3);
  clone_.reset();
  expect_freed(most + page_nbytes);
}

TEST_F(UnderlyingPages, are_kept_while_the_creation_of_an_overlay_is_in_progress) {
  if (!uses("populate")) {
    GTEST_SKIP() << "the library does not populate pages";
  }
  constexpr std::size_t nbytes = 1 << 20;
  Buffer source = filled(std::byte{1}, nbytes);
  source.writable_clone();  // afterwards the source is the only overlay of its file
  // Writes half of the pages that is_much_written() samples, so that the source is much written.
  for (std::size_t at = 0; at < nbytes; at += 8 * page_nbytes) {
    source.mutable_data()[at] = std::byte{2};
    if (::mlock(source.data() + at, page_nbytes) != 0) {
      GTEST_SKIP() << "this process may not lock memory";
    }
  }
  std::optional<Buffer> first = source;
  Buffer second = source;
  {
    WatchedSystem system;
    enum { at_first, within_first, later } now = at_first;
    system.before_populating = [&](const WatchedSystem::Range&) {
      if (now == at_first) {
        now = within_first;
        EXPECT_EQ(first->materialize(), Materialized::overlaid);
        now = later;
      } else if (now == later) {
        first.reset();
      }
    };
    EXPECT_EQ(second.materialize(), Materialized::overlaid);
  }
  EXPECT_FALSE(first);
  EXPECT_EQ(std::memcmp(source.data(), second.data(), nbytes), 0);
}

TEST_F(UnderlyingPages, are_kept_for_a_forked_child) {
  const LateChild child([&] { return is_all(*clone_, std::byte{1}); });
  write(0, paged_nbytes, 2);
  clone_.reset();
  clone_ = source_.writable_clone();
  EXPECT_TRUE(is_all(*clone_, std::byte{2}));
  child.expect_right();
}

/// The bytes of the mapping at this address that are in huge pages of its file.
std::size_t huge_nbytes(const std::byte* begin) {
  const std::string field = mapping_field(begin, "ShmemPmdMapped:");
  return field.empty() ? 0 : std::stoul(field) << 10;
}

/// A source and a clone that share a file of small pages.
struct SmallPages {
  SmallPages() {
    source.writable_clone();
    const Buffer other = source.writable_clone();
    std::memset(source.mutable_data(), 1, paged_nbytes);
    clone = source.writable_clone();
  }

  Buffer source = filled(std::byte{0});
  Buffer clone;
};

TEST(Collapse, gathers_the_pages_of_an_overlay_in_huge_pages) {
  SmallPages small;
  ASSERT_EQ(huge_nbytes(small.source.data()), 0U);
  small.source.collapse(0, huge_page_nbytes);
  if (huge_nbytes(small.source.data()) == 0) {
    GTEST_SKIP() << "the system does not collapse pages";
  }
  EXPECT_EQ(huge_nbytes(small.source.data()), huge_page_nbytes);
  small.source.collapse(huge_page_nbytes, paged_nbytes);
  EXPECT_EQ(huge_nbytes(small.source.data()), paged_nbytes);
  small.clone.collapse(0, paged_nbytes);
  EXPECT_EQ(huge_nbytes(small.clone.data()), paged_nbytes);
  EXPECT_TRUE(is_all(small.source, std::byte{1}));
  EXPECT_TRUE(is_all(small.clone, std::byte{1}));
}

TEST(Collapse, changes_no_bytes_while_another_thread_uses_source_and_clone) {
  SmallPages small;
  std::byte* const pointer = small.source.mutable_data();
  std::atomic<bool> ends = false;
  std::atomic<bool> is_right = true;
  std::thread user([&] {
    for (std::size_t round = 0; !ends; ++round) {
      const auto value = static_cast<std::byte>(round);
      const std::size_t page = round * 67 % (paged_nbytes / page_nbytes);
      pointer[page * page_nbytes + 8] = value;
      is_right = is_right && pointer[page * page_nbytes + 8] == value &&
                 small.clone.data()[page * page_nbytes + 8] == std::byte{1} &&
                 pointer[page * page_nbytes] == std::byte{1};
    }
  });
  for (int round = 0; round < 20; ++round) {
    for (std::size_t at = 0; at < paged_nbytes; at += huge_page_nbytes) {
      small.source.collapse(at, huge_page_nbytes);
      small.clone.collapse(at, huge_page_nbytes);
    }
  }
  ends = true;
  user.join();
  EXPECT_TRUE(is_right);
  EXPECT_TRUE(is_all(small.clone, std::byte{1}));
}

TEST(Collapse, clips_any_range_to_the_data) {
  if (!uses("huge_pages")) {
    GTEST_SKIP() << "the library does not use huge pages";
  }
  SmallPages small;
  const std::byte* const begin = small.source.data();
  constexpr auto all = std::numeric_limits<std::size_t>::max();
  struct {
    std::size_t offset, nbytes, expected_offset, expected_nbytes;
  } const ranges[] = {{0, all, 0, paged_nbytes},
                      {page_nbytes + 1, page_nbytes, page_nbytes, page_nbytes + 1},
                      {paged_nbytes - 1, all, paged_nbytes - page_nbytes, page_nbytes},
                      {paged_nbytes + page_nbytes, page_nbytes, paged_nbytes, 0},
                      {all, all, paged_nbytes, 0}};
  for (const auto& range : ranges) {
    const WatchedSystem system;
    small.source.collapse(range.offset, range.nbytes);
    const auto advised = system.advised(collapse_advice);
    if (range.expected_nbytes == 0) {
      EXPECT_TRUE(advised.empty());
      continue;
    }
    ASSERT_EQ(advised.size(), 2U);
    EXPECT_EQ(advised[1].data, begin + range.expected_offset);
    EXPECT_EQ(advised[1].nbytes, range.expected_nbytes);
    EXPECT_EQ(advised[0].nbytes, range.expected_nbytes);
  }
}

TEST(Collapse, does_nothing_except_for_unforked_overlays_of_memory_files) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'a'));
  Buffer ordinary = Buffer::allocate(paged_nbytes);
  Buffer paged = filled(std::byte{1});
  Buffer mapped = Buffer::map_file(folder / "file");
  const Buffer of_mapped = mapped.writable_clone();
  SmallPages forked;
  in_a_child([] {});
  const WatchedSystem system;
  for (Buffer* const each : {&ordinary, &paged, &mapped, &forked.source}) {
    each->collapse(0, paged_nbytes);
  }
  Buffer().collapse(0, paged_nbytes);
  EXPECT_TRUE(system.advised(collapse_advice).empty());
}

TEST_F(UnderlyingPages, are_not_collapsed_if_the_only_overlay_has_written_them) {
  if (!uses("huge_pages")) {
    GTEST_SKIP() << "the library does not use huge pages";
  }
  write(0, huge_page_nbytes / 2, 2);
  const auto collapses = [&](std::size_t offset) {
    const WatchedSystem system;
    source_.collapse(offset, huge_page_nbytes);
    return system.advised(collapse_advice).size();
  };
  EXPECT_EQ(collapses(0), 2U) << "the clone shows them";
  clone_.reset();
  EXPECT_EQ(collapses(0), 0U);
  EXPECT_EQ(collapses(huge_page_nbytes), 2U);
}

}  // namespace
}  // namespace byre::test
