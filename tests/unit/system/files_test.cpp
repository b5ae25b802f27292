// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/last_error.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "support/features.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;
using system::Access;

class SystemFiles : public testing::Test {
 protected:
  static fs::path with_digits(const fs::path& path) {
    std::ofstream(path, std::ios::binary) << "0123456789";
    return path;
  }
  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryFolder folder_;
  const fs::path path_ = with_digits(folder_ / "file");
  const system::Descriptor file_ = system::open_to_read(path_.string().c_str());
};

TEST_F(SystemFiles, status_tells_size_and_kind) {
  const auto status = system::status_of(file_);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->is_regular);
  EXPECT_EQ(status->nbytes, 10U);
}

TEST_F(SystemFiles, a_missing_file_yields_an_empty_descriptor_and_the_reason) {
  const auto missing = system::open_to_read((folder_ / "missing").string().c_str());
  EXPECT_EQ(system::last_error(), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(missing);
  EXPECT_FALSE(system::status_of(missing));
  EXPECT_EQ(system::last_error(), std::errc::no_such_file_or_directory) << "must be preserved";
}

TEST_F(SystemFiles, reading_at_an_offset_returns_the_bytes_that_exist) {
  std::array<char, 6> bytes{};
  EXPECT_EQ(system::read_at(file_, bytes.data(), bytes.size(), 2), 6);
  EXPECT_EQ(std::string_view(bytes.data(), 6), "234567");
  EXPECT_EQ(system::read_at(file_, bytes.data(), bytes.size(), 8), 2);
  EXPECT_EQ(std::string_view(bytes.data(), 2), "89");
  EXPECT_EQ(system::read_at(file_, bytes.data(), bytes.size(), 10), 0);
}

TEST_F(SystemFiles, reading_an_empty_descriptor_fails_with_a_bad_descriptor) {
  char byte = 0;
  EXPECT_EQ(system::read_at(system::Descriptor(), &byte, 1, 0), -1);
  EXPECT_EQ(system::last_error(), std::errc::bad_file_descriptor);
}

TEST_F(SystemFiles, writes_to_a_private_mapping_do_not_reach_the_file) {
  std::byte* const mapping = system::map_privately(file_, 10, Access::read_write);
  if (!has_protected_pages) {
    EXPECT_EQ(mapping, nullptr) << "this system only reads files";
    return;
  }
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(std::memcmp(mapping, "0123456789", 10), 0);
  mapping[0] = std::byte{'x'};
  EXPECT_EQ(contents(), "0123456789");
  std::byte* const other = system::map_privately(file_, 10, Access::read);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other[0], std::byte{'0'});
  EXPECT_TRUE(system::unmap(mapping, 10));
  EXPECT_TRUE(system::unmap(other, 10));
}

TEST_F(SystemFiles, a_discarded_page_of_a_private_mapping_shows_the_file) {
  if (!has_protected_pages) {
    GTEST_SKIP() << "this system only reads files";
  }
  std::byte* const mapping = system::map_privately(file_, 10, Access::read_write);
  ASSERT_NE(mapping, nullptr);
  mapping[0] = std::byte{'x'};
  if (system::discard(mapping, system::actual_page_nbytes())) {
    EXPECT_TRUE(mapping[0] == std::byte{'0'} || mapping[0] == std::byte{0});
  }
  system::unmap(mapping, 10);
}

TEST_F(SystemFiles, mapping_an_empty_descriptor_fails) {
  EXPECT_EQ(system::map_privately(system::Descriptor(), 10, Access::read), nullptr);
  EXPECT_EQ(system::last_error(), std::errc::bad_file_descriptor);
}

TEST_F(SystemFiles, the_absolute_name_follows_links) {
  const fs::path link = folder_ / "link";
  std::error_code failure;
  fs::create_symlink("file", link, failure);
  if (failure == std::errc::function_not_supported) {
    GTEST_SKIP() << "this C++ library makes no symbolic links";
  }
  const system::OwnedName name = system::absolute_name(link.string().c_str());
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(fs::path(name.get()), fs::canonical(path_));
}

TEST_F(SystemFiles, the_absolute_name_of_a_relative_one_denotes_the_file) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const system::OwnedName name = system::absolute_name("./file");
  fs::current_path(before);
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(system::open_to_read(name.get()).identity(), file_.identity());
}

TEST_F(SystemFiles, a_missing_file_has_no_absolute_name) {
  EXPECT_EQ(system::absolute_name((folder_ / "missing").string().c_str()), nullptr);
  EXPECT_EQ(system::last_error(), std::errc::no_such_file_or_directory);
}

TEST(LastError, has_a_text_and_is_preserved_by_a_guard) {
  errno = EDOM;
  {
    const system::KeptError kept;
    const auto missing = system::open_to_read("/no/such/file");
    EXPECT_EQ(system::last_error(), std::errc::no_such_file_or_directory);
    EXPECT_STREQ(system::text_of(system::last_error()).chars.data(), std::strerror(ENOENT));
  }
  EXPECT_EQ(errno, EDOM);
}

}  // namespace
}  // namespace byre::test
