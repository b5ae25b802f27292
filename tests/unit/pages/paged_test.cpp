// SPDX-License-Identifier: BSL-1.0
/// Data in pages: what a write copies, and that nobody else sees it.
#include <byre/memory/pages.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "paged_buffers.hpp"
#include "support/complaint.hpp"
#include "support/counted.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

class Paged : public WithStats {};

TEST_F(Paged, data_without_overlays_is_written_in_place) {
  Buffer buffer = filled(std::byte{1});
  EXPECT_EQ(buffer.origin(), Origin::paged);
  const std::byte* const data = buffer.data();
  for (const bool had_an_overlay : {false, true}) {
    if (had_an_overlay) {
      Buffer clone = buffer;
      clone.mutable_data()[0] = std::byte{2};
    }
    EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
    EXPECT_EQ(buffer.mutable_data(), data);
    EXPECT_TRUE(is_all(buffer, std::byte{1}));
  }
}

TEST_F(Paged, a_write_to_shared_data_copies_no_byte_itself) {
  Buffer buffer = filled(std::byte{1});
  const Counted counted;
  Buffer clone = buffer;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  clone.mutable_data()[12345] = std::byte{2};
  EXPECT_EQ(clone.origin(), Origin::overlay);
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_EQ(clone.data()[12345], std::byte{2});
  EXPECT_EQ(clone.data()[12346], std::byte{1});
  EXPECT_EQ(counted.since().copies, 0);
  EXPECT_EQ(counted.since().overlays, 1);
}

TEST_F(Paged, the_last_owner_is_overlaid_too_while_there_are_overlays) {
  Buffer buffer = filled(std::byte{1});
  std::optional<Buffer> clone = buffer;
  clone->mutable_data()[0] = std::byte{2};
  EXPECT_FALSE(buffer.is_unique());
  EXPECT_EQ(buffer.use_count(), 1U);
  EXPECT_EQ(buffer.materialize(), Materialized::overlaid);
  buffer.mutable_data()[1] = std::byte{3};
  EXPECT_EQ(clone->data()[1], std::byte{1});
  EXPECT_EQ(buffer.data()[0], std::byte{1});
}

TEST_F(Paged, an_overlay_of_an_overlay_has_the_pages_that_were_written) {
  std::optional<Buffer> buffer = filled(std::byte{1});
  std::optional<Buffer> first = *buffer;
  for (std::size_t page = 0; page < 5; ++page) {
    first->mutable_data()[page * 1'000'000] = std::byte{2};
  }
  buffer.reset();
  const Counted counted;
  Buffer second = *first;
  EXPECT_EQ(second.materialize(), Materialized::overlaid);
  EXPECT_EQ(counted.since().copies, 1);
  EXPECT_EQ(counted.since().bytes_copied, static_cast<std::int64_t>(5 * page_nbytes));
  second.mutable_data()[7] = std::byte{3};
  EXPECT_EQ(first->data()[7], std::byte{1});
  first->mutable_data()[8] = std::byte{4};
  EXPECT_EQ(second.data()[8], std::byte{1});
  first.reset();
  for (std::size_t page = 0; page < 5; ++page) {
    EXPECT_EQ(second.data()[page * 1'000'000], std::byte{2});
  }
  EXPECT_EQ(second.data()[7], std::byte{3});
}

TEST_F(Paged, snapshots_one_after_the_other_copy_what_was_written_since) {
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

TEST_F(Paged, pages_that_were_written_back_are_the_file_s) {
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

TEST_F(Paged, pages_are_not_written_back_while_others_show_the_file) {
  Buffer owner = filled(std::byte{1});
  Buffer overlay = owner;
  overlay.mutable_data()[0] = std::byte{2};
  Buffer clone = overlay;
  clone.mutable_data()[1] = std::byte{3};
  EXPECT_TRUE(is_all(owner, std::byte{1}));
  Buffer other = owner;
  other.mutable_data()[9] = std::byte{4};
  owner = Buffer();
  overlay = clone;
  clone.mutable_data()[2] = std::byte{5};
  EXPECT_EQ(other.data()[0], std::byte{1});
  EXPECT_EQ(other.data()[1], std::byte{1});
}

TEST_F(Paged, overlays_that_are_mostly_written_are_copied_whole) {
  Buffer buffer = filled(std::byte{1});
  Buffer overlay = buffer;
  std::memset(overlay.mutable_data(), 2, paged_nbytes / 8);
  Buffer clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  std::memset(overlay.mutable_data(), 2, paged_nbytes / 8 + 1);
  clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_EQ(clone.origin(), Origin::paged);
  EXPECT_EQ(std::memcmp(clone.data(), overlay.data(), paged_nbytes), 0);
  buffer = Buffer();
  EXPECT_EQ(Buffer(overlay).materialize(), Materialized::copied);
}

TEST_F(Paged, scattered_pages_are_copied_one_and_all_up_to_an_eighth) {
  Buffer buffer = filled(std::byte{1});
  Buffer overlay = buffer;
  constexpr std::size_t most = paged_nbytes / page_nbytes / 8;
  const auto write_pages = [](Buffer& written, std::size_t count) {
    for (std::size_t page = 0; page < count; ++page) {  // which touch no other
      written.mutable_data()[2 * page * page_nbytes] = std::byte{2};
    }
  };
  write_pages(overlay, most);
  Buffer clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(std::memcmp(clone.data(), overlay.data(), paged_nbytes), 0);
  for (std::size_t page = 0; page < most; ++page) {
    EXPECT_EQ(clone.data()[2 * page * page_nbytes], std::byte{2});
  }
  write_pages(clone, most + 1);
  EXPECT_EQ(Buffer(clone).materialize(), Materialized::copied);
}

TEST_F(Paged, memory_lives_until_the_last_owner_or_overlay_ends) {
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
    EXPECT_EQ(counted.since().pinned_bytes, nbytes) << "only an overlay keeps it";
    overlay.reset();
    EXPECT_EQ(counted.since().pinned_bytes, 0);
  }
  EXPECT_EQ(counted.since().live_bytes, 0);
}

TEST_F(Paged, explanations_say_that_a_write_copies_pages) {
  const TemporaryFolder folder;
  write_file(folder / "large", std::string(least_paged_nbytes, 'l'));
  write_file(folder / "small", std::string(least_paged_nbytes - 1, 's'));
  EXPECT_TRUE(says(explain(Buffer::map_file(folder / "large")), "copies the pages it touches"));
  EXPECT_TRUE(says(explain(Buffer::map_file(folder / "small")), "a write copies them"));
  Buffer buffer = filled(std::byte{1});
  EXPECT_TRUE(says(explain(buffer), "in pages of the paged allocator", "goes to them directly"));
  Buffer overlay = buffer;
  EXPECT_TRUE(says(explain(buffer), "shared by 2 owners: a write copies the pages it touches"));
  overlay.mutable_data();
  EXPECT_TRUE(says(explain(buffer), "shared by 1 owner: a write copies the pages it touches"));
  EXPECT_TRUE(says(explain(overlay), "an overlay of pages", "goes to them directly"));
}

TEST_F(Paged, little_data_is_ordinary) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes - 1, paged_allocator());
  EXPECT_EQ(buffer.origin(), Origin::allocated);
  EXPECT_EQ(&buffer.allocator(), &paged_allocator());
  Buffer clone = buffer;
  EXPECT_EQ(clone.materialize(), Materialized::copied);
}

TEST_F(Paged, a_range_is_writable_and_a_range_beyond_is_refused) {
  Buffer buffer = filled(std::byte{1});
  Buffer clone = buffer;
  const auto range = clone.mutable_range(4000, 5000);
  EXPECT_EQ(range.data(), clone.data() + 4000);
  EXPECT_EQ(range.size(), 5000U);
  std::memset(range.data(), 2, range.size());
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_TRUE(clone.mutable_range(paged_nbytes, 0).empty());
  EXPECT_TRUE(
      says(complaint_of<InvalidArgument>([&] { (void)clone.mutable_range(paged_nbytes, 1); }),
           "1 bytes from byte 8388608 on", "8388608 bytes"));
  EXPECT_THROW((void)clone.mutable_range(1, paged_nbytes), InvalidArgument);
  EXPECT_THROW((void)clone.mutable_range(2 * paged_nbytes, 1), InvalidArgument);
  EXPECT_THROW((void)clone.mutable_range(2, static_cast<std::size_t>(-1)), InvalidArgument);
}

TEST_F(Paged, a_write_to_a_large_mapped_file_copies_no_byte_itself) {
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
  }
  EXPECT_EQ(read_file(folder / "weights"), std::string(paged_nbytes, 'w'));
}

TEST_F(Paged, a_mapped_file_whose_name_is_gone_is_copied) {
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

TEST_F(Paged, thousands_of_overlays_are_apart) {
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

}  // namespace
}  // namespace byre::test
