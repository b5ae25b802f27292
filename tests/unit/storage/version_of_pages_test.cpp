// SPDX-License-Identifier: BSL-1.0
/// Storage::version() of data in pages and of mapped files.
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "storage/text.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

/// Storages in pages: memory of paged_allocator(), and a mapped file.
Storage in_pages() {
  Storage storage = Storage::allocate(4 * least_paged_nbytes, paged_allocator());
  std::ranges::fill(storage.mutable_range(0, storage.nbytes()), std::byte{7});
  return storage;
}

TEST(Version, of_pages_changes_with_overlays_and_does_not_force_them) {
  Storage storage = in_pages();
  Storage clone = storage.lazy_clone();
  const std::uint64_t version = storage.version();
  clone.version();
  const Materialized how = clone.materialize();
  EXPECT_NE(how, Materialized::already_unique);
  clone.mutable_data()[0] = std::byte{8};
  EXPECT_EQ(storage.version(), version);
  EXPECT_EQ(storage.data()[0], std::byte{7});

  const std::uint64_t of_overlay = clone.version();
  EXPECT_TRUE(clone.is_unique());
  EXPECT_EQ(clone.materialize(), Materialized::already_unique);
  EXPECT_NE(clone.version(), of_overlay);

  storage = Storage();
  Storage second = clone.lazy_clone();
  second.version();
  EXPECT_EQ(second.materialize(), how);
  second.mutable_data()[1] = std::byte{9};
  EXPECT_EQ(clone.materialize(), Materialized::already_unique);
  EXPECT_EQ(clone.data()[1], std::byte{7});
}

TEST(Version, changes_with_a_writable_clone_of_pages) {
  for (const bool is_shared : {false, true}) {
    Storage storage = in_pages();
    const Storage other = is_shared ? storage.lazy_clone() : Storage();
    const std::uint64_t version = storage.version();
    Storage clone = storage.writable_clone();
    EXPECT_NE(storage.version(), version);
    EXPECT_NE(clone.version(), storage.version());
    EXPECT_TRUE(storage.is_unique());
    EXPECT_TRUE(clone.is_unique());
    const Storage second = storage.writable_clone();
    clone.mutable_data()[0] = std::byte{8};
    EXPECT_EQ(storage.data()[0], std::byte{7});
    EXPECT_EQ(second.data()[0], std::byte{7});
  }
}

TEST(Version, of_a_mapped_file_changes_with_the_first_write) {
  const TemporaryFolder folder;
  const auto name = folder / "cow";
  write_file(name, "cow");
  Storage storage = Storage::map_file(name);
  const std::uint64_t version = storage.version();
  EXPECT_EQ(storage.version(), version);
  EXPECT_TRUE(storage.is_unique());
  storage.mutable_data();
  EXPECT_NE(storage.version(), version);
  EXPECT_EQ(text_of(storage), "cow");
}

}  // namespace
}  // namespace byre::test
