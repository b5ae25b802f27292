// SPDX-License-Identifier: BSL-1.0
// Tests of mapped files, and of files that byre reads.
#include <byre/files/detail/input_file.hpp>
#include <byre/storage/storage.hpp>
#include <byre/system/page_nbytes.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "support/child_process.hpp"
#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { write_file(path_, text); }
  const fs::path& path() const { return path_; }

 private:
  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "file";
};

#if !defined(_WIN32)  // Windows does not truncate mapped files, and has no signals

/// Exits with status 1 if the remaining or the copied bytes changed. Otherwise, a read beyond the
/// new end must end the process.
void read_truncated(const fs::path& path, std::size_t left_nbytes) {
  std::signal(SIGBUS, SIG_DFL);  // otherwise a sanitizer would report the signal
  const std::string text = read_file(path);
  const Buffer mapped = Buffer::map_file(path);
  Buffer clone = mapped;
  Buffer written = mapped;
  Buffer copied = mapped;
  std::memset(written.mutable_data(), 'w', text.size());
  const std::span copy = copied.mutable_range(0, text.size());
  std::memcpy(copy.data(), text.data(), text.size());

  fs::resize_file(path, left_nbytes);
  const bool is_kept = std::memcmp(mapped.data(), text.data(), left_nbytes) == 0 &&
                       std::memcmp(copied.data(), text.data(), text.size()) == 0 &&
                       std::as_const(written).data()[text.size() - 1] == std::byte{'w'};
  if (is_kept) {
    clone.mutable_data()[text.size() - 1] = clone.data()[text.size() - 1];
  }
  std::_Exit(1);
}

TEST(MappedFile, truncation_preserves_copies_and_kills_readers_past_the_end) {
  for (const std::size_t left_pages : {0U, 1U, 2U}) {
    const TemporaryFile file(std::string(4 * page_nbytes, 'f'));
    const ChildResult result =
        run_in_child([&](int) { read_truncated(file.path(), left_pages * page_nbytes); },
                     std::chrono::minutes(2));
    EXPECT_EQ(result.exit.signal(), SIGBUS) << result.exit.text() << ", pages left: " << left_pages;
  }
}

#endif

TEST(MappedFile, is_unmapped_when_its_last_owner_is_destroyed_or_copies) {
  const TemporaryFile file("a cow in a byre");
  const auto mappings = [&] { return mappings_of(file.path().parent_path()); };
  if (mappings() < 0) {
    GTEST_SKIP() << "the system does not report mappings";
  }
  {
    const Buffer buffer = Buffer::map_file(file.path());
    const Storage other = Storage::map_file(file.path());
    EXPECT_EQ(mappings(), 2);
  }
  EXPECT_EQ(mappings(), 0);
  Buffer buffer = Buffer::map_file(file.path());
  Buffer clone = buffer;
  clone.mutable_data();
  EXPECT_EQ(mappings(), 1);
  buffer.mutable_data();
  EXPECT_EQ(mappings(), 0);
}

TEST(MappedFile, errors_name_the_file) {
  const TemporaryFile file("cow");
  const fs::path folder = file.path().parent_path();
  write_file(folder / "empty", "");
  const std::pair<fs::path, std::string> refused[] = {
      {"/no/such/cow", "\"/no/such/cow\": there is no such file"},
      {folder / "empty", (folder / "empty").string() + "\": it is empty"},
      {"/", "not a regular file"},
      {"", ""},
  };
  for (const auto& each : refused) {
    EXPECT_TRUE(says(complaint_of<FileError>([&] { Buffer::map_file(each.first); }), each.second))
        << each.first;
  }
  const std::string complaint =
      complaint_of([] { Buffer::map_file("/no/" + std::string(3000, 'm')); });
  EXPECT_TRUE(complaint.ends_with("relative to.") || complaint.ends_with("open files."))
      << "a long path must not cut off the reason and the advice: " << complaint;
}

#if !defined(_WIN32)  // Windows has no /proc, no named pipes in folders, and no such users

TEST(MappedFile, neither_a_success_nor_an_error_leaves_a_file_open) {
  const TemporaryFile file("cow");
  const fs::path folder = file.path().parent_path();
  write_file(folder / "empty", "");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const std::ptrdiff_t before = open_files();
  const Buffer mapped = Buffer::map_file(file.path());
  // The pipe must not wait for a writer.
  for (const fs::path& refused : {fs::path("/no/such/cow"), folder / "empty", folder / "pipe"}) {
    EXPECT_THROW((void)Buffer::map_file(refused), FileError) << refused;
  }
  EXPECT_EQ(open_files(), before);
}

TEST(MappedFile, an_unreadable_file_is_refused) {
  const TemporaryFile file("cow");
  ASSERT_EQ(::chmod(file.path().c_str(), 0), 0);
  const uid_t self = ::geteuid();
  constexpr uid_t nobody = 65534;
  if (self == 0) {
    ASSERT_EQ(::seteuid(nobody), 0);  // permissions do not apply to the superuser
  }
  const std::string unreadable = complaint_of([&] { Buffer::map_file(file.path()); });
  ASSERT_EQ(::seteuid(self), 0);
  EXPECT_TRUE(says(unreadable, "Permission denied"));
}

#endif

TEST(InputFile, is_refused_if_it_cannot_be_read) {
  const TemporaryFile file("half of it goes");
  detail::InputFile input(file.path());
  fs::resize_file(file.path(), 4);
  std::string read(input.nbytes(), ' ');
  EXPECT_TRUE(says(complaint_of<FileError>([&] { input.read(read.data(), read.size()); }),
                   "it ended with 11 bytes still to read"));
#if !defined(__wasm__) && !defined(_WIN32)  // they report a missing file
  EXPECT_TRUE(says(complaint_of<FileError>([] { detail::InputFile(std::string(300, 'x')); }),
                   "Check the path, its permissions"));
#endif
}

TEST(MappedFile, a_file_above_the_largest_object_size_is_refused) {
  if constexpr (sizeof(std::size_t) > 4) {
    GTEST_SKIP() << "no file system has such large files";
  }
#if defined(__wasm__)
  GTEST_SKIP() << "emscripten cannot make a file longer than 4 GiB";
#endif
  const TemporaryFile file("cow");
  for (const std::uintmax_t nbytes :
       {std::uintmax_t{max_nbytes} + 1, (std::uintmax_t{1} << 32) + 3, std::uintmax_t{5} << 32}) {
    fs::resize_file(file.path(), nbytes);  // a sparse file: the disk stores 3 bytes
    EXPECT_TRUE(
        says(complaint_of<FileError>([&] { Buffer::map_file(file.path()); }), "more bytes"));
    EXPECT_TRUE(
        says(complaint_of<FileError>([&] { detail::InputFile(file.path()); }), "more bytes"));
  }
}

TEST(MappedFileDeathTest, a_write_through_a_cast_pointer_ends_the_program) {
  const TemporaryFile file("cow");
  const Buffer mapped = Buffer::map_file(file.path());
  EXPECT_DEATH(*const_cast<std::byte*>(mapped.data()) = std::byte{'m'}, "");
}

}  // namespace
}  // namespace byre::test
