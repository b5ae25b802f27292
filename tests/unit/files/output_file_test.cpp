// SPDX-License-Identifier: BSL-1.0
/// OutputFile: the old file after failures, the order in which data and names reach the disk, and
/// symbolic links.
#include <byre/error/error.hpp>
#include <byre/files/output_file.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "output_file_fixture.hpp"
#include "pages/children.hpp"
#include "support/complaint.hpp"

namespace byre::test {
namespace {

/// Sets a limit of the process while an object of this class exists.
class Limited {
 public:
  Limited(decltype(RLIMIT_NOFILE) what, rlim_t most) : what_(what) {
    ::getrlimit(what, &before_);
    set_limit(what, most);
  }
  ~Limited() { ::setrlimit(what_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  const decltype(RLIMIT_NOFILE) what_;
  rlimit before_{};
};

TEST_F(OutputFileTest, a_failed_write_keeps_the_old_file) {
  write_file(path, "before");
  const std::string text(100, 'x');
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_TRUE(says(complaint_of<FileError>([&] {
                     const Limited small(RLIMIT_FSIZE, 16);
                     OutputFile output(path);
                     output.write(text.data(), text.size());
                   }),
                   "/file\": File too large. The file is unchanged. Choose another place"));
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, the_file_is_flushed_before_and_the_folder_after_the_rename) {
  disk.watches = true;
  save(path, "12345");
  EXPECT_EQ(disk.steps, (std::vector<std::string>{"flush 5 bytes", "rename", "flush folder"}));
  const struct {
    const char* step;
    int error;
    const char* complaint;  // none for EINVAL, because some file systems cannot flush folders
    const char* left;
  } failures[] = {
      {"flush 5 bytes", EIO, "is unchanged", "before"},
      {"rename", EIO, "is unchanged", "before"},
      {"flush folder", EIO, "was written, but may not survive a power failure", "12345"},
      {"flush folder", EINVAL, "nothing was thrown", "12345"},
  };
  for (const auto& [step, error, complaint, left] : failures) {
    write_file(path, "before");
    disk.fails = step;
    disk.error = error;
    EXPECT_TRUE(says(complaint_of<FileError>([&] { save(path, "12345"); }), complaint));
    EXPECT_EQ(read_file(path), left) << step;
    EXPECT_EQ(files(), 1) << step;
  }
}

TEST_F(OutputFileTest, interrupted_and_short_writes_are_completed) {
  for (bool* const happens : {&is_interrupted, &is_short}) {
    OutputFile file(path);
    *happens = true;
    file.write("12345", 5);
    file.commit();
    EXPECT_FALSE(*happens);
    EXPECT_EQ(read_file(path), "12345");
    write_file(path, "before");
  }
}

TEST_F(OutputFileTest, writes_at_offsets_leave_zeros_between_them) {
  for (bool* const happens : {&is_interrupted, &is_short}) {
    OutputFile file(path);
    file.write("head", 4);
    *happens = true;
    file.write_at(9, "tail", 4);
    EXPECT_FALSE(*happens);
    file.write_at(4, "mid", 3);
    file.commit();
    EXPECT_EQ(read_file(path), std::string("headmid\0\0tail", 13));
  }
}

TEST_F(OutputFileTest, a_failed_write_at_an_offset_keeps_the_old_file) {
  write_file(path, "before");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  {
    const Limited small(RLIMIT_FSIZE, 16);
    OutputFile output(path);
    EXPECT_TRUE(says(complaint_of<FileError>([&] { output.write_at(10, "1234567", 7); }),
                     "/file\": File too large. The file is unchanged. Choose another place"));
    EXPECT_EQ(files(), 2);  // the temporary file remains for other threads that write to it
  }
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, a_failed_close_after_the_flush_is_ignored) {
  OutputFile file(path);
  file.write("12345", 5);
  close_fails = true;
  file.commit();
  EXPECT_FALSE(close_fails);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, all_descriptors_close_on_exec) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int ends = ::open((folder / "pipe").c_str(), O_RDWR | O_CLOEXEC);
  const fs::path names[] = {path, folder / "pipe", "/dev/fd/" + std::to_string(ends)};
  for (const fs::path& name : names) {
    const OutputFile file(name);
    for (int number = 3; number < 1000; ++number) {
      const int flags = ::fcntl(number, F_GETFD);
      EXPECT_TRUE(flags < 0 || (flags & FD_CLOEXEC) != 0 || !is_new(number)) << name << number;
    }
  }
  ::close(ends);
}

TEST_F(OutputFileTest, symbolic_links_are_followed_even_to_missing_files) {
  fs::create_directory(folder / "other_folder");
  fs::create_symlink("link", folder / "link_to_link");
  fs::create_symlink("other_folder/target", folder / "link");
  for (const char* text : {"first", "second"}) {
    save(folder / "link_to_link", text);
    EXPECT_TRUE(fs::is_symlink(folder / "link_to_link"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_file(folder / "other_folder/target"), text);
  }
  fs::create_symlink(folder / "other_folder/other", folder / "absolute");
  save(folder / "absolute", "third");
  EXPECT_EQ(read_file(folder / "other_folder/other"), "third");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "other_folder"), {}), 2);
}

TEST_F(OutputFileTest, cyclic_links_and_links_to_missing_folders_are_rejected) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save(folder / "a", "x"); }), "symbolic links"));
  fs::create_symlink("no/such/folder/file", folder / "dangling");
  EXPECT_THROW(save(folder / "dangling", "x"), FileError);
  EXPECT_EQ(files(), 3);
}

TEST_F(OutputFileTest, too_many_open_files_are_reported) {
  EXPECT_TRUE(says(complaint_of<FileError>([&name = path] {
                     const Limited none(RLIMIT_NOFILE, 0);
                     const OutputFile output(name);
                   }),
                   "Close other files, or raise the limit of open files"));
}

}  // namespace
}  // namespace byre::test
