// SPDX-License-Identifier: BSL-1.0
/// OutputFile: valid and invalid names, and several writers of one file.
#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>

#include <cerrno>
#include <cstring>
#include <optional>

#include "output_folder.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

TEST_F(OutputFiles, without_commit_the_old_file_remains) {
  write_file(path, "before");
  {
    OutputFile output(path);
    output.write("after", 5);
    EXPECT_EQ(files(), 2);
    EXPECT_EQ(read_file(path), "before");
  }
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFiles, destruction_keeps_the_temporary_file_of_the_next_writer) {
  std::optional<OutputFile> first(path);
  first->write("first", 5);
  first->commit();
  OutputFile second(path);
  first.reset();
  second.write("second", 6);
  second.commit();
  EXPECT_EQ(read_file(path), "second");
}

TEST_F(OutputFiles, concurrent_writers_have_separate_temporary_files) {
  OutputFile first(path);
  OutputFile second(path);
  first.write("first", 5);
  second.write("second", 6);
  second.commit();
  EXPECT_EQ(read_file(path), "second");
  first.commit();
  EXPECT_EQ(read_file(path), "first");
}

TEST_F(OutputFiles, accepts_a_relative_name) {
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  save("file", "12345");
  fs::current_path(before);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFiles, rejects_folders_and_invalid_names) {
  EXPECT_TRUE(
      says(complaint_of<FileError>([&] { save(folder.path(), "x"); }), std::strerror(EISDIR)));
  for (const char* name : {"", "new/", "no/such/file"}) {
    EXPECT_THROW(save(folder.path() / name, "x"), FileError) << name;
  }
  EXPECT_TRUE(says(complaint_of<FileError>([&] { OutputFile(""); }), std::strerror(ENOENT)));
#if defined(_WIN32)  // which checks the name when the file gets it
  EXPECT_THROW(save(folder / std::string(256, 'x'), "x"), FileError);
#else
  EXPECT_TRUE(says(complaint_of<FileError>([&] { OutputFile(folder / std::string(256, 'x')); }),
                   "name too long"));
#endif
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFiles, a_null_name_is_rejected) {
  const char* const none = nullptr;
  EXPECT_THROW(OutputFile{none}, FileError);
  EXPECT_THROW((void)Buffer::map_file(none), FileError);
}

TEST_F(OutputFiles, accepts_names_of_the_maximum_length) {
  for (const std::size_t length : {249U, 255U}) {
    const fs::path longest = folder / std::string(length, 'x');
    save(longest, "new");
    save(longest, "newer");
    EXPECT_EQ(read_file(longest), "newer");
  }
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace byre::test
