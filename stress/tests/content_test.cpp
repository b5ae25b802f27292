// SPDX-License-Identifier: BSL-1.0
#include "../content/content.hpp"
#include "support/complaint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace byre::stress {
namespace {

constexpr Content sample{7, 3};
using Bytes = std::vector<std::byte>;

Bytes written(std::size_t nbytes, Content as = sample) {
  Bytes bytes(nbytes);
  write_content(bytes.data(), nbytes, as);
  return bytes;
}

bool is_right(const Bytes& bytes, Content expected = sample) {
  return reads(bytes.data(), bytes.size(), expected, bytes.size());
}

std::string fault_of(const Bytes& bytes, Content expected = sample) {
  return fault_in(bytes.data(), bytes.size(), expected).value_or("");
}

/// Short ones, the shortest with a head, and around whole words and lines.
const std::size_t sizes[] = {1,  2,  7,  8,  9,  31,   32,   33,     39,
                             40, 41, 63, 64, 65, 4095, 4096, 100'003};

TEST(Content, reads_as_it_was_written) {
  for (const std::size_t nbytes : sizes) {
    EXPECT_EQ(fault_of(written(nbytes)), "") << nbytes;
  }
}

TEST(Content, no_byte_can_be_flipped_unnoticed) {
  for (const std::size_t nbytes : sizes) {
    Bytes bytes = written(nbytes);
    for (std::size_t at = 0; at < nbytes; at += nbytes < 5000 ? 1 : 997) {
      bytes[at] ^= std::byte{0x10};
      EXPECT_FALSE(is_right(bytes)) << nbytes << " bytes, flipped at " << at;
      bytes[at] ^= std::byte{0x10};
    }
  }
}

TEST(Content, a_flipped_byte_is_told_by_its_place) {
  Bytes bytes = written(4096);
  bytes[2000] ^= std::byte{1};
  EXPECT_TRUE(test::says(fault_of(bytes), "torn or overwritten", "byte 2000 is the first"));
}

TEST(Content, two_storages_swapped_are_foreign_to_each_other) {
  for (const std::size_t nbytes : sizes) {
    EXPECT_FALSE(is_right(written(nbytes, {8, 3}))) << nbytes;
  }
  EXPECT_TRUE(test::says(fault_of(written(4096, {8, 3})), "foreign: it reads version 3 of 8"));
}

TEST(Content, a_version_rolled_back_is_stale) {
  for (const std::size_t nbytes : sizes) {
    for (std::uint64_t version = sample.version + 1; version < sample.version + 256; ++version) {
      ASSERT_FALSE(is_right(written(nbytes), {sample.identity, version})) << nbytes;
    }
  }
  EXPECT_TRUE(test::says(fault_of(written(64), {7, 4}), "stale, or a write was lost"));
}

TEST(Content, a_write_by_another_after_ones_own_is_noticed) {
  EXPECT_TRUE(test::says(fault_of(written(64, {7, 4})), "written meanwhile"));
}

TEST(Content, halves_of_two_versions_are_torn) {
  for (const std::size_t nbytes : sizes) {
    if (nbytes < 8) {
      continue;  // half of it may be what two versions have in common
    }
    const Bytes newer = written(nbytes, {7, 4});
    Bytes first_new = written(nbytes);
    std::memcpy(first_new.data(), newer.data(), nbytes / 2);
    Bytes last_new = written(nbytes);
    std::memcpy(last_new.data() + nbytes / 2, newer.data() + nbytes / 2, nbytes - nbytes / 2);
    for (const std::uint64_t version : {std::uint64_t{3}, std::uint64_t{4}}) {
      EXPECT_FALSE(is_right(first_new, {7, version})) << nbytes;
      EXPECT_FALSE(is_right(last_new, {7, version})) << nbytes;
    }
  }
}

TEST(Content, lines_that_change_places_are_noticed) {
  Bytes bytes = written(4096);
  std::swap_ranges(bytes.begin() + 1024, bytes.begin() + 1088, bytes.begin() + 2048);
  EXPECT_FALSE(is_right(bytes));
}

TEST(Content, begins_as_it_was_written_after_a_resize) {
  for (const std::size_t nbytes : sizes) {
    const Bytes bytes = written(nbytes);
    for (const std::size_t kept : {std::size_t{1}, nbytes / 2, nbytes}) {
      EXPECT_TRUE(reads(bytes.data(), kept, sample, nbytes)) << kept << " of " << nbytes;
    }
    // Another size is another content; the first byte alone does not say so.
    EXPECT_TRUE(nbytes <= 2 || !is_right(Bytes(bytes.begin(), bytes.end() - 1))) << nbytes;
  }
}

}  // namespace
}  // namespace byre::stress
