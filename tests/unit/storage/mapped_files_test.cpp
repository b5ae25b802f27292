// SPDX-License-Identifier: BSL-1.0
// Memory that byre did not allocate: files that are mapped; and files that are read and written.
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
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"
#include "text.hpp"

namespace byre::test {
namespace {

namespace fs = std::filesystem;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { write_file(path_, text); }
  const fs::path& path() const { return path_; }
  std::string text() const { return read_file(path_); }

 private:
  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "file";
};

/// Ends with status 1 if the bytes that were left, or copied, are others than before.
void read_truncated(const fs::path& path, std::size_t left_nbytes) {
  std::signal(SIGBUS, SIG_DFL);  // a sanitizer would report it instead
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

TEST(MappedFile, that_is_truncated_spares_copies_and_ends_readers) {
  for (const std::size_t left_pages : {0U, 1U, 2U}) {
    const TemporaryFile file(std::string(4 * page_nbytes, 'f'));
    const ChildResult result =
        run_in_child([&](int) { read_truncated(file.path(), left_pages * page_nbytes); },
                     std::chrono::minutes(2));
    EXPECT_EQ(result.exit.signal(), SIGBUS) << result.exit.text() << ", pages left: " << left_pages;
  }
}

TEST(MappedFile, is_read_without_copying_and_copied_by_every_write) {
  const TemporaryFile file("a cow in a byre");
  FailingAllocator allocator;
  Buffer buffer = Buffer::map_file(file.path(), allocator);
  EXPECT_EQ(buffer.origin(), Origin::mapped);
  EXPECT_EQ(text_of(buffer), "a cow in a byre");
  EXPECT_EQ(allocator.copies(), 0);

  Buffer clone = buffer;
  EXPECT_TRUE(clone.shares_data_with(buffer));
  EXPECT_EQ(clone.materialize(), Materialized::copied);
  EXPECT_EQ(buffer.materialize(), Materialized::copied);  // the last owner too
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  buffer.mutable_data()[0] = std::byte{'A'};
  EXPECT_EQ(text_of(buffer), "A cow in a byre");
  EXPECT_EQ(text_of(clone), "a cow in a byre");
  EXPECT_EQ(file.text(), "a cow in a byre");
}

TEST(MappedFile, is_cloned_by_storages_and_never_waits) {
  const TemporaryFile file("cow");
  Storage storage = Storage::map_file(file.path());
  Storage clone = storage.lazy_clone();
  EXPECT_EQ(clone.materialize(Wait::never), Materialized::copied);
  EXPECT_TRUE(storage.is_unique());
}

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST(MappedFile, is_not_kept_open) {
  const TemporaryFile file("written once");
  const TemporaryFile empty("");
  const std::ptrdiff_t before = open_files();
  const Buffer mapped = Buffer::map_file(file.path());
  EXPECT_EQ(open_files(), before);
  EXPECT_THROW(Buffer::map_file(empty.path()), FileError);
  EXPECT_EQ(open_files(), before);
}

TEST(InputFile, that_is_cut_short_meanwhile_is_refused) {
  const TemporaryFile file("half of it goes");
  detail::InputFile input(file.path());
  fs::resize_file(file.path(), 4);
  std::string read(input.nbytes(), ' ');
  EXPECT_TRUE(says(complaint_of<FileError>([&] { input.read(read.data(), read.size()); }),
                   "it ends too early"));
}

TEST(InputFile, whose_path_cannot_be_looked_up_is_refused_for_that) {
  EXPECT_TRUE(says(complaint_of<FileError>([] { detail::InputFile(std::string(300, 'x')); }),
                   "Check the path, its permissions"));
}

TEST(MappedFile, is_unmapped_when_its_last_owner_ends_or_has_a_copy) {
  const TemporaryFile file("a cow in a byre");
  const auto mappings = [&] { return mappings_of(file.path().parent_path()); };
  if (mappings() < 0) {
    GTEST_SKIP() << "the system does not tell what is mapped";
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

TEST(MappedFile, that_is_missing_empty_or_no_file_is_refused_by_name) {
  EXPECT_TRUE(says(complaint_of([] { Buffer::map_file("/no/such/cow"); }),
                   "\"/no/such/cow\": there is no such file"));

  const TemporaryFile empty("");
  EXPECT_TRUE(says(complaint_of([&] { Buffer::map_file(empty.path()); }),
                   empty.path().string() + "\": it is empty"));

  EXPECT_TRUE(says(complaint_of([] { Buffer::map_file("/"); }), "not a regular file"));
  EXPECT_THROW(Buffer::map_file(""), FileError);
}

TEST(MappedFile, whose_path_is_very_long_is_still_refused_with_reason_and_advice) {
  const std::string complaint =
      complaint_of([] { Buffer::map_file("/no/" + std::string(3000, 'm')); });
  EXPECT_TRUE(complaint.ends_with("relative to.") || complaint.ends_with("open files."))
      << complaint;
}

TEST(MappedFile, of_more_bytes_than_an_object_can_have_is_refused_and_not_read_either) {
  if constexpr (sizeof(std::size_t) > 4) {
    GTEST_SKIP() << "no file system has such a file";
  }
  const TemporaryFile file("cow");
  for (const std::uintmax_t nbytes :
       {std::uintmax_t{max_nbytes} + 1, (std::uintmax_t{1} << 32) + 3, std::uintmax_t{5} << 32}) {
    fs::resize_file(file.path(), nbytes);  // of which the disk has three
    EXPECT_TRUE(
        says(complaint_of<FileError>([&] { Buffer::map_file(file.path()); }), "more bytes"));
    EXPECT_TRUE(
        says(complaint_of<FileError>([&] { detail::InputFile(file.path()); }), "more bytes"));
  }
}

TEST(MappedFile, that_is_a_pipe_is_refused_without_waiting_for_a_writer) {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(Buffer::map_file(pipe), FileError);
}

TEST(MappedFile, that_is_unreadable_is_refused_by_name) {
  const TemporaryFile file("cow");
  ASSERT_EQ(::chmod(file.path().c_str(), 0), 0);
  const uid_t self = ::geteuid();
  constexpr uid_t nobody = 65534;
  if (self == 0) {
    ASSERT_EQ(::seteuid(nobody), 0);  // permissions do not bind the superuser
  }
  const std::string complaint = complaint_of([&] { Buffer::map_file(file.path()); });
  ASSERT_EQ(::seteuid(self), 0);
  EXPECT_TRUE(says(complaint, "Permission denied"));
}

TEST(MappedFile, that_finds_no_memory_for_a_write_still_reads) {
  const TemporaryFile file("cow");
  FailingAllocator allocator;
  Buffer buffer = Buffer::map_file(file.path(), allocator);
  allocator.fail_allocation(0);
  EXPECT_THROW(buffer.mutable_data(), OutOfMemory);
  EXPECT_EQ(text_of(buffer), "cow");
  EXPECT_EQ(buffer.origin(), Origin::mapped);
}

}  // namespace
}  // namespace byre::test
