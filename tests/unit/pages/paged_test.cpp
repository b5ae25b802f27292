// SPDX-License-Identifier: BSL-1.0
/// Data in pages: what a write copies. stress/programs compares the contents of all owners with a
/// model.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/features.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

class Paged : public WithStats {};

TEST_F(Paged, without_memory_files_data_is_ordinary_memory) {
  if (has_memory_files()) {
    GTEST_SKIP() << "the library uses memory files";
  }
  Buffer source = filled(std::byte{1});
  EXPECT_EQ(source.origin(), Origin::allocated);
  const Buffer clone = source;
  EXPECT_EQ(source.materialize(), Materialized::copied);
  source.mutable_data()[0] = std::byte{2};
  EXPECT_EQ(clone.data()[0], std::byte{1});
  const Buffer writable = source.writable_clone();
  EXPECT_NE(writable.data(), source.data());
  EXPECT_EQ(writable.data()[0], std::byte{2});
}

TEST_F(Paged, each_snapshot_copies_the_pages_written_since_the_last) {
  if (!has_written_back_pages()) {
    GTEST_SKIP() << "the library writes no pages back";
  }
  Buffer buffer = filled(std::byte{1});
  Buffer snapshot = buffer;
  buffer.mutable_data()[0] = std::byte{2};
  for (std::size_t round = 1; round < 40; ++round) {
    snapshot = buffer;
    const Counted counted;
    buffer.mutable_data()[round * page_nbytes] = std::byte{2};
    EXPECT_EQ(counted.since().overlays, 1);
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(page_nbytes));
    EXPECT_EQ(snapshot.data()[round * page_nbytes], std::byte{1});
    EXPECT_EQ(snapshot.data()[(round - 1) * page_nbytes], std::byte{2});
  }
  for (std::size_t page = 0; page < 40; ++page) {
    EXPECT_EQ(buffer.data()[page * page_nbytes], std::byte{2});
    EXPECT_EQ(buffer.data()[page * page_nbytes + 1], std::byte{1});
  }
}

TEST_F(Paged, a_second_clone_copies_no_pages_after_a_write_back) {
  if (!has_written_back_pages()) {
    GTEST_SKIP() << "the library writes no pages back";
  }
  Buffer buffer = filled(std::byte{1});
  Buffer overlay = buffer;
  overlay.mutable_data()[0] = std::byte{2};
  buffer = Buffer();
  Buffer clone = overlay;
  clone.mutable_data()[1] = std::byte{3};
  const Counted counted;
  Buffer other = overlay;
  other.mutable_data()[2] = std::byte{4};
  EXPECT_EQ(counted.since().bytes_copied, 0);
  EXPECT_EQ(overlay.data()[0], std::byte{2});
  EXPECT_EQ(other.data()[0], std::byte{2});
  EXPECT_EQ(other.data()[1], std::byte{1});
}

TEST_F(Paged, above_an_eighth_of_written_pages_a_clone_copies_all_bytes) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  constexpr std::size_t most = paged_nbytes / page_nbytes / 8;
  // Writes adjacent pages if `step` is 1, and every second page if `step` is 2.
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}}) {
    Buffer buffer = filled(std::byte{1});
    Buffer overlay = buffer;
    const auto write_pages = [&](std::size_t count) {
      for (std::size_t page = 0; page < count; ++page) {
        overlay.mutable_data()[step * page * page_nbytes] = std::byte{2};
      }
    };
    write_pages(most);
    Buffer clone = overlay;
    const Counted counted;
    EXPECT_EQ(clone.materialize(), Materialized::overlaid);
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(most * page_nbytes));
    EXPECT_EQ(std::memcmp(clone.data(), overlay.data(), paged_nbytes), 0);
    write_pages(most + 1);
    for (const bool is_last : {false, true}) {
      buffer = is_last ? Buffer() : buffer;
      clone = overlay;
      EXPECT_EQ(clone.materialize(), Materialized::copied);
      EXPECT_EQ(clone.origin(), Origin::paged);
      EXPECT_EQ(std::memcmp(clone.data(), overlay.data(), paged_nbytes), 0);
    }
  }
}

TEST_F(Paged, memory_is_freed_with_its_last_owner_or_overlay) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  constexpr auto nbytes = static_cast<std::int64_t>(paged_nbytes);
  const Counted counted;
  {
    std::optional<Buffer> buffer = filled(std::byte{1});
    const Buffer other = filled(std::byte{1});
    std::optional<Buffer> overlay = *buffer;
    overlay->mutable_data();
    EXPECT_EQ(counted.since().live_bytes, 2 * nbytes);
    EXPECT_EQ(counted.since().pinned_bytes, 0);
    buffer.reset();
    EXPECT_EQ(counted.since().live_bytes, 2 * nbytes);
    EXPECT_EQ(counted.since().pinned_bytes, has_written_back_pages() ? nbytes : 0)
        << "data without an owner is pinned, but sections are not counted";
    overlay.reset();
    EXPECT_EQ(counted.since().pinned_bytes, 0);
  }
  EXPECT_EQ(counted.since().live_bytes, 0);
}

TEST_F(Paged, loads_from_an_atomic_buffer_share_pages_and_overlays) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  AtomicBuffer place(filled(std::byte{1}));
  for (const std::byte value : {std::byte{2}, std::byte{3}, std::byte{4}}) {
    const Buffer before = place.load();
    Buffer loaded = place.load();
    const Counted counted;
    EXPECT_EQ(loaded.materialize(), Materialized::overlaid);
    loaded.mutable_data()[0] = value;
    place.store(loaded);
    EXPECT_LT(counted.since().bytes_copied, static_cast<std::int64_t>(4 * page_nbytes));
    EXPECT_EQ(before.data()[0], std::byte(static_cast<int>(value) - 1));
    EXPECT_EQ(place.load().data()[0], value);
  }
}

TEST_F(Paged, explain_states_that_a_write_copies_pages) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  const TemporaryFolder folder;
  write_file(folder / "large", std::string(least_paged_nbytes, 'l'));
  write_file(folder / "small", std::string(least_paged_nbytes - 1, 's'));
  EXPECT_TRUE(says(explain(Buffer::map_file(folder / "large")), "copies the pages it touches"));
  EXPECT_TRUE(says(explain(Buffer::map_file(folder / "small")), "a write copies them"));
  Buffer buffer = filled(std::byte{1});
  EXPECT_TRUE(says(explain(buffer), "in pages of the paged allocator", "modifies them in place"));
  Buffer overlay = buffer;
  EXPECT_TRUE(says(explain(buffer), "shared by 2 owners: a write copies the pages it touches"));
  overlay.mutable_data();
  EXPECT_TRUE(says(explain(buffer), "shared by 1 owner: a write copies the pages it touches"));
  EXPECT_TRUE(says(explain(overlay), "an overlay of pages", "modifies them in place"));
}

TEST_F(Paged, data_below_the_smallest_paged_size_is_ordinary_memory) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes - 1, paged_allocator());
  EXPECT_EQ(buffer.origin(), Origin::allocated);
  EXPECT_EQ(&buffer.allocator(), &paged_allocator());
  Buffer clone = buffer;
  EXPECT_EQ(clone.materialize(), Materialized::copied);
}

TEST_F(Paged, a_range_that_exceeds_the_buffer_is_refused) {
  Buffer buffer = filled(std::byte{1});
  EXPECT_TRUE(buffer.mutable_range(paged_nbytes, 0).empty());
  EXPECT_TRUE(
      says(complaint_of<InvalidArgument>([&] { (void)buffer.mutable_range(paged_nbytes, 1); }),
           "1 bytes from byte 8388608 on", "8388608 bytes"));
  EXPECT_THROW((void)buffer.mutable_range(1, paged_nbytes), InvalidArgument);
  EXPECT_THROW((void)buffer.mutable_range(2 * paged_nbytes, 1), InvalidArgument);
  EXPECT_THROW((void)buffer.mutable_range(2, static_cast<std::size_t>(-1)), InvalidArgument);
}

TEST_F(Paged, mutable_data_of_a_large_mapped_file_copies_no_bytes) {
  const TemporaryFolder folder;
  write_file(folder / "weights", std::string(paged_nbytes, 'w'));
  const Counted counted;
  {
    Buffer buffer = Buffer::map_file(folder / "weights");
    EXPECT_EQ(counted.since().live_bytes, 0);
    Buffer clone = buffer;
    clone.mutable_data()[5'000'000] = std::byte{'c'};
    EXPECT_EQ(clone.origin(), Origin::overlay);
    Buffer second = clone;
    second.mutable_data()[0] = std::byte{'s'};
    EXPECT_EQ(second.data()[5'000'000], std::byte{'c'});
    buffer.mutable_data()[1] = std::byte{'b'};
    EXPECT_EQ(clone.data()[1], std::byte{'w'});
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(page_nbytes));
    EXPECT_EQ(counted.since().overlays, 3);
    const Buffer snapshot = buffer.writable_clone();
    std::memset(buffer.mutable_data(), 'm', paged_nbytes / 2);
    EXPECT_EQ(snapshot.data()[1], std::byte{'b'});
    EXPECT_EQ(snapshot.data()[2], std::byte{'w'});
    EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(2 * page_nbytes));
  }
  EXPECT_EQ(read_file(folder / "weights"), std::string(paged_nbytes, 'w'));
}

TEST_F(Paged, a_write_to_a_deleted_or_replaced_mapped_file_copies_all) {
#if defined(_WIN32)
  GTEST_SKIP() << "Windows does not delete or replace mapped files";
#endif
  const TemporaryFolder folder;
  write_file(folder / "weights", std::string(paged_nbytes, 'w'));
  Buffer gone = Buffer::map_file(folder / "weights");
  std::filesystem::remove(folder / "weights");
  EXPECT_EQ(gone.materialize(), Materialized::copied);
  write_file(folder / "weights", std::string(paged_nbytes, 'w'));
  Buffer replaced = Buffer::map_file(folder / "weights");
  std::filesystem::remove(folder / "weights");
  write_file(folder / "weights", std::string(paged_nbytes, 'x'));
  EXPECT_EQ(replaced.materialize(), Materialized::copied);
  EXPECT_EQ(replaced.data()[0], std::byte{'w'});
}

TEST_F(Paged, thousands_of_overlays_are_independent) {
  Random random(seed());
  const Buffer base = filled(std::byte{1}, least_paged_nbytes);
  std::vector<Buffer> overlays;
  constexpr std::size_t count = 5'000;
  for (std::size_t number = 0; number < count; ++number) {
    overlays.push_back(number == 0 ? base : random.one_of(overlays));
    std::memcpy(overlays.back().mutable_data() + 5 * page_nbytes, &number, sizeof number);
  }
  for (std::size_t number = 0; number < count; ++number) {
    std::size_t read = 0;
    std::memcpy(&read, overlays[number].data() + 5 * page_nbytes, sizeof read);
    EXPECT_EQ(read, number);
  }
  EXPECT_TRUE(is_all(base, std::byte{1}));
}

TEST(MemoryId, is_equal_exactly_for_buffers_over_the_same_file) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(paged_nbytes, 'a'));
  for (Buffer source : {filled(std::byte{1}), Buffer::map_file(folder / "file")}) {
    EXPECT_NE(source.memory_id(), filled(std::byte{1}).memory_id());
    Buffer overlay = source;
    EXPECT_EQ(source.memory_id(), overlay.memory_id());
    overlay.mutable_data();
    EXPECT_EQ(source.memory_id(), overlay.memory_id());
    const Buffer first = overlay.writable_clone();
    EXPECT_EQ(first.memory_id(), source.memory_id());
  }
  if (!has_written_back_pages()) {
    return;
  }
  Buffer source = filled(std::byte{1});
  const Buffer first = source.writable_clone();
  std::memset(source.mutable_data(), 2, paged_nbytes);
  const Buffer second = source.writable_clone();  // moves source and clone to a new file
  EXPECT_EQ(second.memory_id(), source.memory_id());
  EXPECT_NE(first.memory_id(), source.memory_id());
}

// random_programs_test.cpp tests more writes after forks.
TEST(PagedForks, writes_of_the_parent_do_not_reach_the_child) {
  Buffer buffer = filled(std::byte{1});
  const LateChild child([&] { return is_all(buffer, std::byte{1}); });
  std::memset(buffer.mutable_data(), 2, paged_nbytes);
  buffer = Buffer();
  child.expect_right();
}

TEST(PagedForks, lazy_clones_made_in_a_child_contain_its_earlier_writes) {
  Buffer source = filled(std::byte{1});
  in_a_child([&source] {
    // The written page is private to the child, so the file does not contain this write.
    source.mutable_data()[0] = std::byte{2};
    Buffer clone = source;
    clone.mutable_data()[1] = std::byte{3};
    EXPECT_EQ(clone.data()[0], std::byte{2});
    EXPECT_EQ(source.data()[1], std::byte{1});
  });
}

TEST(PagedForks, pages_that_the_parent_writes_back_do_not_reach_the_child) {
  if (!has_memory_files()) {
    GTEST_SKIP() << "the library does not use memory files";
  }
  Buffer overlay = filled(std::byte{1});
  {
    const Buffer base = overlay;
    overlay.mutable_data()[0] = std::byte{2};
  }
  const LateChild child(
      [&] { return overlay.data()[0] == std::byte{2} && overlay.data()[5000] == std::byte{1}; });
  overlay.mutable_data()[5000] = std::byte{3};
  Buffer clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[5000], std::byte{3});
  child.expect_right();
}

}  // namespace
}  // namespace byre::test
