// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/page_map.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/features.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

constexpr std::size_t pages = 1200;  // more than one read of the page map returns

/// A private mapping of a file, and the pages of it that a PageMap reports.
class PageMapTest : public testing::Test {
 protected:
  PageMapTest() {
    const std::string path = (folder_ / "file").string();
    std::ofstream(path, std::ios::binary) << std::string(pages * page_, '0');
    mapping_ = system::map_privately(system::open_to_read(path.c_str()), pages * page_,
                                     system::Access::read_write);
  }
  ~PageMapTest() override {
    if (mapping_ != nullptr) {
      system::unmap(mapping_, pages * page_);
    }
  }

  void SetUp() override {
    if (!uses("pagemap")) {
      GTEST_SKIP() << "the library does not read the page map";
    }
    ASSERT_NE(mapping_, nullptr);
#if defined(_WIN32)
    const auto ignore = [](void*, std::size_t, std::size_t) noexcept { return true; };
    if (!system::PageMap().for_each_private_run(mapping_, page_, ignore, nullptr)) {
      GTEST_SKIP() << "Wine 8 does not report written pages";
    }
#endif
  }

  void write(std::size_t page) {
    mapping_[page * page_] = std::byte{'x'};
  }

  /// Returns the reported pages. Stops after `most` of them.
  std::vector<std::size_t> found(std::size_t most = pages) {
    struct Found {
      std::size_t page;
      std::size_t most;
      std::vector<std::size_t> numbers;
    } found{page_, most, {}};
    const auto add = [](void* of, std::size_t offset, std::size_t run) noexcept {
      auto& [page, left, numbers] = *static_cast<Found*>(of);
      for (std::size_t at = offset; at < offset + run; at += page) {
        numbers.push_back(at / page);
      }
      return numbers.size() < left;
    };
    EXPECT_TRUE(system::PageMap().for_each_private_run(mapping_, pages * page_, add, &found));
    return found.numbers;
  }

  const std::size_t page_ = system::actual_page_nbytes();
  const TemporaryFolder folder_;
  std::byte* mapping_ = nullptr;
};

TEST_F(PageMapTest, reports_no_page_that_was_only_read) {
  unsigned sum = 0;
  for (std::size_t page = 0; page < pages; ++page) {
    sum += std::to_integer<unsigned>(mapping_[page * page_]);
  }
  EXPECT_EQ(sum, pages * '0');
  EXPECT_TRUE(found().empty());
}

TEST_F(PageMapTest, reports_the_written_pages_in_order) {
  const std::vector<std::size_t> written = {0, 3, 4, 511, 512, 700, pages - 1};
  for (const std::size_t page : {pages - 1, std::size_t{4}, std::size_t{512}, std::size_t{0},
                                 std::size_t{700}, std::size_t{3}, std::size_t{511}}) {
    write(page);
  }
  EXPECT_EQ(found(), written);
}

TEST_F(PageMapTest, reports_more_runs_than_one_scan_returns) {
  std::vector<std::size_t> written;
  for (std::size_t page = 0; page < pages; page += 2) {
    write(page);
    written.push_back(page);
  }
  EXPECT_EQ(found(), written);
}

TEST_F(PageMapTest, stops_if_the_visit_returns_false) {
  for (const std::size_t page : {1U, 3U, 5U}) {
    write(page);
  }
  EXPECT_EQ(found(2), (std::vector<std::size_t>{1, 3}));
}

TEST(PageMap, reports_nothing_if_the_library_does_not_use_it) {
  if (uses("pagemap")) {
    GTEST_SKIP() << "the library uses it";
  }
  const auto visit = [](void*, std::size_t, std::size_t) noexcept { return true; };
  EXPECT_FALSE(system::PageMap().for_each_private_run(nullptr, 0, visit, nullptr));
}

}  // namespace
}  // namespace byre::test
