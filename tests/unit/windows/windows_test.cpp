// SPDX-License-Identifier: BSL-1.0
/// What byre does on Windows in a way of its own: names, replaced files, pages.
#include <byre/files/output_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/page_map.hpp>
#include <byre/system/detail/sections.hpp>

#include <gtest/gtest.h>

#include <windows.h>

#include <io.h>
#include <process.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/environment.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

class Windows : public testing::Test {
 protected:
  void write(const std::string& text) const {
    OutputFile file(path_);
    file.write(text.data(), text.size());
    file.commit();
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / fs::path(u8"größe \u4e2d.bin");
};

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string text_of(const Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.nbytes()};
}

TEST_F(Windows, names_are_in_utf_8) {
  write("wide");
  EXPECT_EQ(read_file(path_), "wide");
  const std::u8string name = path_.u8string();
  EXPECT_EQ(text_of(Buffer::map_file(reinterpret_cast<const char*>(name.c_str()))), "wide");
  EXPECT_EQ(text_of(Buffer::map_file(path_)), "wide");
}

TEST_F(Windows, a_name_that_is_not_utf_8_is_refused) {
  EXPECT_THROW(Buffer::map_file("\xff\xfe"), FileError);
  EXPECT_THROW(OutputFile("\xff\xfe"), FileError);
}

TEST_F(Windows, a_replaced_file_keeps_its_old_bytes_until_commit) {
  write("old");
  {
    OutputFile file(path_);
    file.write("new", 3);
    EXPECT_EQ(read_file(path_), "old");
  }
  EXPECT_EQ(read_file(path_), "old");
  EXPECT_EQ(files_in(folder_.path()), 1U) << "expected no temporary file";
  write("newer");
  EXPECT_EQ(read_file(path_), "newer");
  EXPECT_EQ(files_in(folder_.path()), 1U);
}

TEST_F(Windows, a_file_that_is_mapped_is_replaced_or_stays_as_it_was) {
  write("mapped");
  const Buffer mapped = Buffer::map_file(path_);
  try {
    write("other");
    EXPECT_EQ(read_file(path_), "other");
  } catch (const FileError&) {
    EXPECT_EQ(read_file(path_), "mapped");
  }
  EXPECT_EQ(text_of(mapped), "mapped");
  EXPECT_EQ(files_in(folder_.path()), 1U);
}

TEST_F(Windows, a_name_in_the_root_of_a_drive_denotes_the_root) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const fs::path path = folder_.path().root_path() / folder_.path().filename();
  try {
    OutputFile(path).commit();
  } catch (const FileError&) {
    fs::current_path(before);
    GTEST_SKIP() << "this user may not write to the root of the drive";
  }
  fs::current_path(before);
  EXPECT_TRUE(fs::remove(path));
  EXPECT_EQ(files_in(folder_.path()), 0U);
}

TEST_F(Windows, a_name_after_a_drive_is_relative_to_its_current_folder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  OutputFile(folder_.path().root_name().string() + "file").commit();
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(folder_ / "file"));
}

TEST_F(Windows, a_failed_writer_leaves_the_temporary_file_of_the_next) {
  write("old");
  const fs::path part = folder_ / (".byre-" + std::to_string(::GetCurrentProcessId()) + "-0.part");
  std::optional<OutputFile> failed(path_);
  fs::remove(path_);
  fs::create_directory(path_);  // a file cannot replace it
  EXPECT_THROW(failed->commit(), FileError);
  EXPECT_FALSE(fs::exists(part));
  write_file(part, "of another writer");
  failed.reset();
  EXPECT_TRUE(fs::exists(part));
}

/// The number of the file is in the environment of the child.
TEST_F(Windows, a_child_process_receives_no_file) {
  if (const char* const number = std::getenv("BYRE_NUMBER_IN_PARENT")) {
    EXPECT_LT(::_get_osfhandle(std::atoi(number)), 0);
    return;
  }
  write("text");
  const auto file = system::open_to_read(reinterpret_cast<const char*>(path_.u8string().c_str()));
  set_variable("BYRE_NUMBER_IN_PARENT", std::to_string(file.number()).c_str());
  wchar_t program[MAX_PATH]{};
  ::GetModuleFileNameW(nullptr, program, MAX_PATH);
  const std::intptr_t status =
      ::_wspawnl(_P_WAIT, program, L"unit_windows", L"--gtest_filter=*receives_no_file", nullptr);
  set_variable("BYRE_NUMBER_IN_PARENT", "");
  EXPECT_EQ(status, 0);
}

TEST_F(Windows, a_folder_is_refused) {
  EXPECT_THROW(OutputFile(folder_.path()), FileError);
  EXPECT_THROW(Buffer::map_file(folder_.path()), FileError);
}

TEST_F(Windows, a_device_is_written_in_place) {
  OutputFile file("NUL");
  file.write("gone", 4);
  file.commit();
}

TEST_F(Windows, a_write_to_a_mapped_file_copies_and_leaves_the_file) {
  write(std::string(least_paged_nbytes + 100, 'a'));
  Buffer mapped = Buffer::map_file(path_);
  const Buffer clone = mapped;
  mapped.mutable_data()[5] = std::byte{'b'};
  EXPECT_EQ(mapped.data()[5], std::byte{'b'});
  EXPECT_EQ(clone.data()[5], std::byte{'a'});
  EXPECT_EQ(read_file(path_)[5], 'a');
}

TEST_F(Windows, a_write_to_shared_pages_maps_an_overlay) {
  Buffer buffer = Buffer::allocate(least_paged_nbytes, paged_allocator());
  std::fill_n(buffer.mutable_data(), buffer.nbytes(), std::byte{1});
  Buffer clone = buffer;
  clone.mutable_data()[70'000] = std::byte{2};
  EXPECT_EQ(clone.origin(), Origin::overlay);
  Buffer clone_of_clone = clone;
  clone_of_clone.mutable_data()[9] = std::byte{3};
  EXPECT_EQ(clone_of_clone.data()[70'000], std::byte{2});
  EXPECT_EQ(clone.data()[9], std::byte{1});
  EXPECT_EQ(buffer.data()[70'000], std::byte{1});
  buffer.mutable_data()[80'000] = std::byte{4};
  EXPECT_EQ(clone.data()[80'000], std::byte{1});
  EXPECT_EQ(clone_of_clone.data()[80'000], std::byte{1});
}

TEST_F(Windows, a_mapping_is_aligned_without_other_bytes_and_ends_whole) {
  const std::size_t page = system::actual_page_nbytes();
  const auto mapping =
      system::map_aligned(page, 4 * page, std::size_t{2} << 20, system::Access::read_write);
  ASSERT_NE(mapping.begin, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping.data) % (std::size_t{2} << 20), 0U);
  EXPECT_EQ(mapping.begin, mapping.data - page);
  EXPECT_EQ(mapping.nbytes, 5 * page);
  std::memset(mapping.begin, 7, mapping.nbytes);
  ASSERT_TRUE(system::unmap(mapping.begin, mapping.nbytes));
  MEMORY_BASIC_INFORMATION region{};
  ASSERT_NE(::VirtualQuery(mapping.begin, &region, sizeof region), 0U);
  EXPECT_EQ(region.State, static_cast<DWORD>(MEM_FREE));
}

TEST_F(Windows, discarded_pages_are_zero) {
  const std::size_t page = system::actual_page_nbytes();
  const auto mapping = system::map_aligned(0, 2 * page, page, system::Access::read_write);
  ASSERT_NE(mapping.begin, nullptr);
  std::memset(mapping.begin, 7, 2 * page);
  ASSERT_TRUE(system::discard(mapping.begin, page));
  EXPECT_EQ(mapping.begin[0], std::byte{0});
  EXPECT_EQ(mapping.begin[page], std::byte{7});
  EXPECT_TRUE(system::unmap(mapping.begin, 2 * page));
}

/// Wine 8 does not report written pages. byre then compares pages.
TEST_F(Windows, the_page_map_reports_the_written_pages_or_none) {
  const std::size_t page = system::actual_page_nbytes();
  const system::Section section(8 * page);
  ASSERT_TRUE(static_cast<bool>(section));
  std::byte* const view = section.map(system::Writes::private_to_mapping);
  ASSERT_NE(view, nullptr);
  view[3 * page] = view[4 * page] = std::byte{1};
  std::vector<std::size_t> written(8);
  const auto visit = [](void* context, std::size_t offset, std::size_t nbytes) noexcept {
    const std::size_t nbytes_of_page = system::actual_page_nbytes();
    for (std::size_t at = offset; at < offset + nbytes; at += nbytes_of_page) {
      ++(*static_cast<std::vector<std::size_t>*>(context))[at / nbytes_of_page];
    }
    return true;
  };
  if (system::PageMap().for_each_private_run(view, 8 * page, visit, &written)) {
    EXPECT_EQ(written, (std::vector<std::size_t>{0, 0, 0, 1, 1, 0, 0, 0}));
  } else {
    EXPECT_EQ(written, std::vector<std::size_t>(8));
  }
  EXPECT_TRUE(system::unmap(view, 8 * page));
}

}  // namespace
}  // namespace byre::test
