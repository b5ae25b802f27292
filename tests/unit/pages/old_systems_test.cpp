// SPDX-License-Identifier: BSL-1.0
/// Data in pages on systems that lack what newer ones have, or forbid it.
#include <byre/memory/pages.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/child_process.hpp"
#include "support/emulated.hpp"
#include "support/temporary_folder.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// Old systems do not say which pages were written, or not at once; and locked-down ones do not at all.
class OldSystem : public testing::TestWithParam<bool> {};

TEST_P(OldSystem, overlays_of_overlays_have_what_was_written) {
  WatchedSystem system;
  system.has_pagemap_scan = false;
  system.has_pagemap = GetParam();
  constexpr std::size_t nbytes = 1000 * page_nbytes - 5;
  Buffer base = Buffer::allocate(nbytes, paged_allocator());
  std::memset(base.mutable_data(), 1, nbytes);
  Buffer overlay = base;
  const std::size_t places[] = {
      0,         3 * page_nbytes - 1, 7 * page_nbytes + 5, 511 * page_nbytes, 512 * page_nbytes,
      nbytes - 1};
  for (const std::size_t place : places) {
    overlay.mutable_data()[place] = std::byte{2};
  }
  for (const bool is_written_back : {false, true}) {
    if (is_written_back) {
      base = Buffer();
    }
    Buffer clone = overlay;
    ASSERT_EQ(clone.materialize(), Materialized::overlaid);
    ASSERT_EQ(std::memcmp(clone.data(), overlay.data(), nbytes), 0);
    for (const std::size_t place : places) {
      EXPECT_EQ(clone.data()[place], std::byte{2});
    }
  }
}

TEST_P(OldSystem, overlays_of_files_have_what_was_written_at_their_end) {
  WatchedSystem system;
  system.has_pagemap_scan = false;
  system.has_pagemap = GetParam();
  const TemporaryFolder folder;
  constexpr std::size_t nbytes = 100 * page_nbytes + 5;
  write_file(folder / "file", std::string(nbytes, 'f'));
  Buffer overlay = Buffer::map_file(folder / "file");
  overlay.mutable_data()[nbytes - 1] = std::byte{'w'};
  Buffer clone = overlay;
  ASSERT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[nbytes - 1], std::byte{'w'});
  EXPECT_EQ(clone.data()[nbytes - 2], std::byte{'f'});
  if (!is_emulated()) {
    EXPECT_EQ(detail::count_written_pages(overlay.data(), nbytes),
              GetParam() ? static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(WithPagemap, OldSystem, testing::Bool());

TEST(OldSystems, without_memory_files_it_is_ordinary_memory) {
  // There may be one already: a fork leaves it behind.
  WatchedSystem system;
  system.has_memory_files = false;
  const ChildResult result = run_in_child(
      [](int) {
        const Buffer buffer = Buffer::allocate(4 << 20, paged_allocator());
        ::_exit(buffer.origin() == Origin::allocated ? EXIT_SUCCESS : EXIT_FAILURE);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text();
}

}  // namespace
}  // namespace byre::test
