// SPDX-License-Identifier: BSL-1.0
/// The pages of a file beneath writable clones: which are freed, which are kept, and which are gathered in huge pages.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <boost/thread/thread.hpp>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// Memory that the memory files of this process have.
std::size_t memory_files_nbytes() {
  std::size_t blocks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    struct ::stat about {};
    if (std::filesystem::read_symlink(entry, error).string().starts_with("/memfd:byre") &&
        ::stat(entry.path().c_str(), &about) == 0) {
      blocks += static_cast<std::size_t>(about.st_blocks);
    }
  }
  return blocks * 512;
}

class PagesBeneath : public testing::Test {
 protected:
  void SetUp() override {
    Buffer source = filled(std::byte{1});
    const Buffer clone = source.writable_clone();
    source.mutable_data()[0] = std::byte{2};
    if (detail::count_written_pages(source.data(), paged_nbytes) == 0) {
      GTEST_SKIP() << "the system does not say which pages were written";
    }
  }
};

TEST_F(PagesBeneath, are_freed_where_the_last_overlay_wrote) {
  Buffer source = filled(std::byte{1});
  const std::size_t before = memory_files_nbytes();
  std::optional<Buffer> clone = source.writable_clone();
  {
    Buffer lazy = source;
    WatchedSystem system;
    system.refuse_maps(1);
    EXPECT_EQ(lazy.materialize(), Materialized::copied);  // the overlay that it began has ended
  }
  std::memset(source.mutable_data(), 2, paged_nbytes);
  clone.reset();
  EXPECT_EQ(memory_files_nbytes() + paged_nbytes, before);
  EXPECT_TRUE(is_all(source, std::byte{2}));
  Buffer second = source.writable_clone();
  EXPECT_TRUE(is_all(second, std::byte{2}));
  EXPECT_TRUE(is_all(source, std::byte{2}));
  EXPECT_EQ(memory_files_nbytes(), before);
}

TEST_F(PagesBeneath, stay_where_the_last_overlay_did_not_write) {
  Buffer neighbor = filled(std::byte{1});  // whose mapping a step beyond the end would reach
  neighbor.writable_clone();
  std::memset(neighbor.mutable_data(), 2, paged_nbytes);
  Buffer source = filled(std::byte{1});
  const std::size_t before = memory_files_nbytes();
  std::optional<Buffer> clone = source.writable_clone();
  constexpr std::size_t half = huge_page_nbytes / 2;  // whole huge pages are freed
  std::memset(source.mutable_data() + half, 2, 4 * half);
  std::memset(source.mutable_data() + 6 * half, 2, 2 * half);
  const WatchedSystem system;
  clone.reset();
  EXPECT_EQ(memory_files_nbytes() + 4 * half, before);
  for (std::size_t at = 0; at < paged_nbytes; at += page_nbytes) {
    const bool is_written = at / half != 0 && at / half != 5;
    ASSERT_EQ(source.data()[at], is_written ? std::byte{2} : std::byte{1}) << at;
  }
  for (const WatchedSystem::Range& range : system.advised(MADV_REMOVE)) {
    EXPECT_LE(range.nbytes, 2 * half) << "no pages of the neighbor";
  }
}

TEST_F(PagesBeneath, are_freed_once_no_other_shows_them_on_any_system) {
  for (const bool has_scan : {true, false}) {
    WatchedSystem system;
    system.has_pagemap_scan = has_scan;
    Buffer source = filled(std::byte{1});
    const std::size_t before = memory_files_nbytes();
    std::optional<Buffer> clone = source.writable_clone();
    std::optional<Buffer> other = source.writable_clone();
    std::memset(source.mutable_data(), 2, paged_nbytes);
    clone.reset();
    EXPECT_EQ(memory_files_nbytes(), before);
    EXPECT_TRUE(is_all(*other, std::byte{1}));
    other.reset();
    EXPECT_EQ(memory_files_nbytes() + paged_nbytes, before);
    EXPECT_TRUE(is_all(source, std::byte{2}));
  }
}

TEST_F(PagesBeneath, of_large_data_are_freed_in_each_step) {
  constexpr std::size_t nbytes = (std::size_t{64} << 20) + 2 * huge_page_nbytes;
  constexpr std::size_t written_nbytes = nbytes - 2 * huge_page_nbytes;
  Buffer source = filled(std::byte{1}, nbytes);
  const std::size_t before = memory_files_nbytes();
  std::optional<Buffer> clone = source.writable_clone();
  std::memset(source.mutable_data() + huge_page_nbytes, 2, written_nbytes);
  clone.reset();
  EXPECT_EQ(memory_files_nbytes() + written_nbytes, before);
  EXPECT_EQ(source.data()[0], std::byte{1});
  EXPECT_EQ(source.data()[huge_page_nbytes + written_nbytes - 1], std::byte{2});
  EXPECT_EQ(source.data()[nbytes - 1], std::byte{1});
}

TEST_F(PagesBeneath, are_freed_if_more_than_an_eighth_was_written) {
  Buffer source = filled(std::byte{1}, least_paged_nbytes);
  const std::size_t before = memory_files_nbytes();
  std::optional<Buffer> clone = source.writable_clone();
  std::memset(source.mutable_data(), 2, least_paged_nbytes / 8);
  clone.reset();
  EXPECT_EQ(memory_files_nbytes(), before);
  clone = source.writable_clone();
  std::memset(source.mutable_data(), 3, least_paged_nbytes / 8);
  source.mutable_data()[least_paged_nbytes / 8 + page_nbytes] = std::byte{3};
  clone.reset();
  EXPECT_EQ(memory_files_nbytes() + least_paged_nbytes / 8 + page_nbytes, before);
}

TEST_F(PagesBeneath, stay_for_an_owner_of_the_file) {
  Buffer overlay = filled(std::byte{1});
  const Buffer owner = overlay;
  std::optional<Buffer> other = overlay;
  other->mutable_data();
  std::memset(overlay.mutable_data(), 2, paged_nbytes);
  other.reset();
  EXPECT_TRUE(is_all(owner, std::byte{1}));
}

TEST_F(PagesBeneath, stay_for_an_overlay_that_is_begun) {
  constexpr std::size_t nbytes = 1 << 20;
  Buffer source = filled(std::byte{1}, nbytes);
  source.writable_clone();  // and the source is the only overlay of its file
  for (std::size_t at = 0; at < nbytes;
       at += 8 * page_nbytes) {  // every second page that is looked at
    source.mutable_data()[at] = std::byte{2};
    if (::mlock(source.data() + at, page_nbytes) != 0) {
      GTEST_SKIP() << "this process may lock no memory";
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

TEST_F(PagesBeneath, stay_for_a_child_that_shows_them) {
  Buffer source = filled(std::byte{1});
  std::optional<Buffer> clone = source.writable_clone();
  const LateChild child([&] { return is_all(*clone, std::byte{1}); });
  std::memset(source.mutable_data(), 2, paged_nbytes);
  clone.reset();
  clone = source.writable_clone();
  EXPECT_TRUE(is_all(*clone, std::byte{2}));
  child.expect_right();
}

/// How much of the mapping that begins at this address is in huge pages of its file.
std::size_t huge_nbytes(const std::byte* begin) {
  const std::string field = mapping_field(begin, "ShmemPmdMapped:");
  return field.empty() ? 0 : std::stoul(field) << 10;
}

/// In a file of small pages, which another overlay shows too.
struct Small {
  Small() {
    source.writable_clone();
    const Buffer other = source.writable_clone();
    std::memset(source.mutable_data(), 1, paged_nbytes);
    clone = source.writable_clone();
  }

  Buffer source = filled(std::byte{0});
  Buffer clone;
};

TEST(Collapse, gathers_the_pages_of_an_overlay_in_huge_pages) {
  Small small;
  ASSERT_EQ(huge_nbytes(small.source.data()), 0U);
  small.source.collapse(0, huge_page_nbytes);
  if (huge_nbytes(small.source.data()) == 0) {
    GTEST_SKIP() << "the system gathers no pages";
  }
  EXPECT_EQ(huge_nbytes(small.source.data()), huge_page_nbytes);
  small.source.collapse(huge_page_nbytes, paged_nbytes);
  EXPECT_EQ(huge_nbytes(small.source.data()), paged_nbytes);
  small.clone.collapse(0, paged_nbytes);
  EXPECT_EQ(huge_nbytes(small.clone.data()), paged_nbytes);
  EXPECT_TRUE(is_all(small.source, std::byte{1}));
  EXPECT_TRUE(is_all(small.clone, std::byte{1}));
}

TEST(Collapse, changes_no_bytes_while_both_sides_are_read_and_written) {
  Small small;
  std::byte* const pointer = small.source.mutable_data();
  std::atomic<bool> ends = false;
  std::atomic<bool> is_right = true;
  boost::thread user([&] {
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

TEST(Collapse, takes_any_range_and_asks_for_what_is_in_it) {
  Small small;
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

TEST(Collapse, does_nothing_where_no_overlay_shares_a_file) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'a'));
  Buffer ordinary = Buffer::allocate(paged_nbytes);
  Buffer paged = filled(std::byte{1});
  Buffer mapped = Buffer::map_file(folder / "file");
  const Buffer of_mapped = mapped.writable_clone();
  Small forked;
  in_a_child([] {});
  const WatchedSystem system;
  for (Buffer* const each : {&ordinary, &paged, &mapped, &forked.source}) {
    each->collapse(0, paged_nbytes);
  }
  Buffer().collapse(0, paged_nbytes);
  EXPECT_TRUE(system.advised(collapse_advice).empty());
}

TEST_F(PagesBeneath, are_not_gathered_where_no_overlay_sees_them) {
  Buffer source = filled(std::byte{1});
  std::optional<Buffer> clone = source.writable_clone();
  std::memset(source.mutable_data(), 2, huge_page_nbytes / 2);
  {
    const WatchedSystem seen_by_the_clone;
    source.collapse(0, huge_page_nbytes);
    EXPECT_EQ(seen_by_the_clone.advised(collapse_advice).size(), 2U);
  }
  clone.reset();
  const WatchedSystem system;
  source.collapse(0, huge_page_nbytes);
  EXPECT_TRUE(system.advised(collapse_advice).empty());
  source.collapse(huge_page_nbytes, huge_page_nbytes);
  EXPECT_EQ(system.advised(collapse_advice).size(), 2U);
}

TEST(MemoryId, is_equal_for_buffers_that_show_a_file) {
  Buffer source = filled(std::byte{1});
  const Buffer lazy = source;
  EXPECT_EQ(source.memory_id(), lazy.memory_id());
  EXPECT_NE(source.memory_id(), filled(std::byte{1}).memory_id());
  Buffer first = source.writable_clone();
  Buffer second = first.writable_clone();
  EXPECT_EQ(first.memory_id(), source.memory_id());
  EXPECT_EQ(second.memory_id(), source.memory_id());
  EXPECT_EQ(lazy.memory_id(), source.memory_id());
  std::memset(source.mutable_data(), 2, paged_nbytes);
  const Buffer third = source.writable_clone();  // in a new file
  EXPECT_EQ(third.memory_id(), source.memory_id());
  EXPECT_EQ(first.memory_id(), second.memory_id());
  EXPECT_NE(first.memory_id(), source.memory_id());
}

TEST(MemoryId, is_equal_for_a_mapped_file_and_its_overlays) {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'a'));
  const Buffer mapped = Buffer::map_file(folder / "file");
  Buffer overlay = mapped;
  overlay.mutable_data();
  EXPECT_EQ(mapped.memory_id(), overlay.memory_id());
  EXPECT_EQ(mapped.memory_id(), overlay.writable_clone().memory_id());
}

}  // namespace
}  // namespace byre::test
