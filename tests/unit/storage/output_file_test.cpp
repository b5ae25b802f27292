// SPDX-License-Identifier: BSL-1.0
/// What OutputFile replaces, follows, keeps and writes in place; and that it is on the disk.
#include <byre/error/error.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/output_file.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <boost/thread/thread.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace {

/// What reaches the disk, in order, and what fails of it.
struct Disk {
  bool watches = false;
  std::string fails;
  int error = EIO;
  std::vector<std::string> steps;
  ::mode_t mode_before = 0;  // of the last file that was given another

  /// False if that step fails.
  bool step(const std::string& what) {
    if (watches) {
      steps.push_back(what);
    }
    if (fails == what) {
      errno = error;
    }
    return fails != what;
  }
} disk;

constinit thread_local bool is_interrupted = false;
constinit thread_local bool is_short = false;
constinit thread_local bool close_fails = false;

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace byre::test

// In place of the C library's.
extern "C" int fsync(int file) {
  struct ::stat found {};
  ::fstat(file, &found);
  if (!byre::test::disk.step(S_ISDIR(found.st_mode)
                                 ? "flush folder"
                                 : "flush " + std::to_string(found.st_size) + " bytes")) {
    return -1;
  }
  return byre::test::original<int(int)>("fsync")(file);
}

extern "C" int syncfs(int file) {
  return byre::test::disk.step("flush all") ? byre::test::original<int(int)>("syncfs")(file) : -1;
}

extern "C" int fchmod(int file, mode_t mode) {
  struct ::stat found {};
  ::fstat(file, &found);
  byre::test::disk.mode_before = found.st_mode & 07777U;
  return byre::test::original<int(int, mode_t)>("fchmod")(file, mode);
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  if (!byre::test::disk.step("rename")) {
    return -1;
  }
  return byre::test::original<int(int, const char*, int, const char*)>("renameat")(
      from_folder, from, to_folder, to);
}

extern "C" ssize_t write(int file, const void* bytes, size_t nbytes) {
  if (std::exchange(byre::test::is_interrupted, false)) {
    errno = EINTR;
    return -1;
  }
  const size_t taken = std::exchange(byre::test::is_short, false) ? nbytes / 2 : nbytes;
  return byre::test::original<ssize_t(int, const void*, size_t)>("write")(file, bytes, taken);
}

extern "C" int close(int file) {
  const int closed = byre::test::original<int(int)>("close")(file);
  if (std::exchange(byre::test::close_fails, false)) {
    errno = EIO;
    return -1;
  }
  return closed;
}

namespace byre::test {
namespace {

namespace fs = std::filesystem;

/// No file may have more than a few bytes while this lives.
class SmallFiles {
 public:
  SmallFiles() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit few{16, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &few);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, previous_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*const previous_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

/// This process is another user, of another group, while this lives; if it may be.
class AnotherUser {
 public:
  ~AnotherUser() {
    EXPECT_EQ(::seteuid(user_), 0);
    EXPECT_EQ(::setegid(group_), 0);
  }
  AnotherUser() = default;
  AnotherUser(const AnotherUser&) = delete;
  AnotherUser& operator=(const AnotherUser&) = delete;

  explicit operator bool() const { return is_; }

 private:
  const ::uid_t user_ = ::geteuid();
  const ::gid_t group_ = ::getegid();
  const bool is_ = ::setegid(8765) == 0 && ::seteuid(4321) == 0;
};

class OutputFileTest : public testing::Test {
 protected:
  ~OutputFileTest() override { disk = {}; }

  void save(const fs::path& to, const std::string& text) {
    OutputFile file(to);
    file.write(text.data(), text.size());
    file.commit();
  }

  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder.path()), {}); }

  /// An open file that was not there when this test began.
  bool is_new(int number) const { return !before_[static_cast<std::size_t>(number)]; }

  const TemporaryFolder folder;
  const fs::path path = folder / "file";

 private:
  const std::array<bool, 1000> before_ = [] {
    std::array<bool, 1000> open{};
    for (std::size_t number = 0; number < open.size(); ++number) {
      open[number] = ::fcntl(static_cast<int>(number), F_GETFD) >= 0;
    }
    return open;
  }();
};

struct ::stat status_of(const fs::path& path) {
  struct ::stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found;
}

TEST_F(OutputFileTest, that_finds_no_room_leaves_what_was_there) {
  write_file(path, "before");
  const std::string text(100, 'x');
  EXPECT_TRUE(says(complaint_of<FileError>([&] {
                     const SmallFiles small;
                     OutputFile output(path);
                     output.write(text.data(), text.size());
                   }),
                   "/file\": File too large. What was there is unchanged; choose another place"));
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, that_is_not_committed_leaves_what_was_there) {
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

TEST_F(OutputFileTest, is_flushed_before_it_has_its_name_and_so_is_the_name) {
  disk.watches = true;
  save(path, "12345");
  EXPECT_EQ(disk.steps, (std::vector<std::string>{"flush 5 bytes", "rename", "flush folder"}));
}

TEST_F(OutputFileTest, that_cannot_be_flushed_or_renamed_leaves_what_was_there) {
  for (const char* step : {"flush 5 bytes", "rename"}) {
    write_file(path, "before");
    disk.fails = step;
    EXPECT_TRUE(says(complaint_of<FileError>([&] { save(path, "12345"); }), "is unchanged"));
    EXPECT_EQ(read_file(path), "before") << step;
    EXPECT_EQ(files(), 1) << step;
  }
}

TEST_F(OutputFileTest, whose_name_cannot_be_flushed_says_so) {
  disk.fails = "flush folder";
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save(path, "12345"); }),
                   "was written, but may not survive a power failure"));
  EXPECT_EQ(read_file(path), "12345");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, may_be_where_folders_cannot_be_flushed) {
  disk.fails = "flush folder";
  disk.error = EINVAL;
  save(path, "12345");
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, is_written_whole_where_signals_interrupt) {
  OutputFile file(path);
  is_interrupted = true;
  file.write("12345", 5);
  file.commit();
  EXPECT_FALSE(is_interrupted);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, is_written_whole_where_the_system_takes_a_part) {
  OutputFile file(path);
  is_short = true;
  file.write("12345", 5);
  file.commit();
  EXPECT_FALSE(is_short);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, leaves_the_next_its_temporary_file) {
  std::optional<OutputFile> first(path);
  first->write("first", 5);
  first->commit();
  OutputFile second(path);
  first.reset();
  second.write("second", 6);
  second.commit();
  EXPECT_EQ(read_file(path), "second");
}

TEST_F(OutputFileTest, that_is_flushed_needs_no_more_of_being_closed) {
  OutputFile file(path);
  file.write("12345", 5);
  close_fails = true;
  file.commit();
  EXPECT_FALSE(close_fails);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, may_be_named_as_it_is_from_the_working_folder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  save("file", "12345");
  fs::current_path(before);
  EXPECT_EQ(read_file(path), "12345");
}

TEST_F(OutputFileTest, is_closed_in_programs_that_this_one_becomes) {
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

TEST_F(OutputFileTest, follows_links_also_to_what_is_not_there_yet) {
  fs::create_directory(folder / "elsewhere");
  fs::create_symlink("link", folder / "link_to_link");
  fs::create_symlink("elsewhere/target", folder / "link");
  for (const char* text : {"first", "second"}) {
    save(folder / "link_to_link", text);
    EXPECT_TRUE(fs::is_symlink(folder / "link_to_link"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_file(folder / "elsewhere/target"), text);
  }
  fs::create_symlink(folder / "elsewhere/other", folder / "absolute");
  save(folder / "absolute", "third");
  EXPECT_EQ(read_file(folder / "elsewhere/other"), "third");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "elsewhere"), {}), 2);
}

TEST_F(OutputFileTest, refuses_links_that_lead_nowhere) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save(folder / "a", "x"); }), "symbolic links"));
  fs::create_symlink("no/such/folder/file", folder / "dangling");
  EXPECT_THROW(save(folder / "dangling", "x"), FileError);
  EXPECT_EQ(files(), 3);
}

TEST_F(OutputFileTest, refuses_folders_and_names_that_cannot_be) {
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save(folder.path(), "x"); }), "Is a directory"));
  for (const char* name : {"", "new/", "no/such/file"}) {
    EXPECT_THROW(save(folder.path() / name, "x"), FileError) << name;
  }
  EXPECT_TRUE(says(complaint_of<FileError>([&] { OutputFile(""); }), "No such file or directory"));
  EXPECT_TRUE(says(complaint_of<FileError>([&] { OutputFile(folder / std::string(256, 'x')); }),
                   "name too long"));
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, or_one_that_is_read_has_a_name) {
  const char* const none = nullptr;
  EXPECT_THROW(OutputFile{none}, FileError);
  EXPECT_THROW((void)Buffer::map_file(none), FileError);
}

TEST_F(OutputFileTest, may_have_a_name_as_long_as_names_can_be) {
  for (const std::size_t length : {249U, 255U}) {
    const fs::path longest = folder / std::string(length, 'x');
    save(longest, "new");
    save(longest, "newer");
    EXPECT_EQ(read_file(longest), "newer");
  }
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, keeps_permissions_and_owner) {
  write_file(path, "before");
  const bool may_give_away = ::chown(path.c_str(), 4321, 8765) == 0;
  ::chmod(path.c_str(), 04751);
  save(path, "after");
  const struct ::stat after = status_of(path);
  EXPECT_EQ(after.st_mode & 07777U, 04751U);
  if (may_give_away) {
    EXPECT_EQ(after.st_uid, 4321U);
    EXPECT_EQ(after.st_gid, 8765U);
  }
}

TEST_F(OutputFileTest,
       can_be_opened_by_nobody_else_before_it_has_the_permissions_of_what_it_replaces) {
  write_file(path, "secret");
  ::chmod(path.c_str(), 0640);
  save(path, "after");
  EXPECT_EQ(disk.mode_before, 0600U);
  EXPECT_EQ(status_of(path).st_mode & 07777U, 0640U);
}

TEST_F(OutputFileTest, may_be_in_a_folder_that_can_be_written_and_not_read) {
  fs::permissions(folder.path(), fs::perms::all);
  const fs::path dark = folder / "dark";
  fs::create_directory(dark);
  ::chmod(dark.c_str(), 0333);
  const AnotherUser user;
  if (!user) {
    GTEST_SKIP() << "this process cannot be another user";
  }
  disk.watches = true;
  save(dark / "file", "12345");
  disk.fails = "flush all";
  const std::string text = complaint_of<FileError>([&] { save(dark / "file", "1234567"); });
  EXPECT_TRUE(says(text, "was written, but may not survive a power failure"));
  EXPECT_EQ(disk.steps,
            (std::vector<std::string>{"flush 5 bytes", "rename", "flush folder", "flush all",
                                      "flush 7 bytes", "rename", "flush folder", "flush all"}));
  EXPECT_EQ(read_file(dark / "file"), "1234567");
}

TEST_F(OutputFileTest, of_another_owner_is_for_that_group_what_it_was_for_others) {
  fs::permissions(folder.path(), fs::perms::all);
  write_file(path, "before");
  ::chmod(path.c_str(), 04664);
  const AnotherUser user;
  if (!user) {
    GTEST_SKIP() << "this process cannot be another user";
  }
  save(path, "");  // to write takes the set-user-ID bit away, too
  const struct ::stat after = status_of(path);
  EXPECT_EQ(after.st_mode & 07777U, 0644U);
  EXPECT_EQ(after.st_uid, 4321U);
}

TEST_F(OutputFileTest, of_another_owner_and_our_group_keeps_the_group_s_permissions) {
  fs::permissions(folder.path(), fs::perms::all);
  write_file(path, "before");
  ::chmod(path.c_str(), 04664);
  const bool is_of_group = ::chown(path.c_str(), 0, 8765) == 0;
  const AnotherUser user;
  if (!is_of_group || !user) {
    GTEST_SKIP() << "this process cannot be another user";
  }
  save(path, "after");
  EXPECT_EQ(status_of(path).st_mode & 07777U, 0664U);
  EXPECT_EQ(status_of(path).st_gid, 8765U);
}

TEST_F(OutputFileTest, of_another_name_keeps_the_old_file) {
  write_file(path, "before");
  fs::create_hard_link(path, folder / "other");
  save(path, "after");
  EXPECT_EQ(read_file(path), "after");
  EXPECT_EQ(read_file(folder / "other"), "before");
}

TEST_F(OutputFileTest, that_is_new_has_the_permissions_of_new_files) {
  const ::mode_t before = ::umask(027);
  save(path, "x");
  ::umask(before);
  EXPECT_EQ(status_of(path).st_mode & 07777U, 0640U);
}

/// A device of the system, with that number, which this process cannot replace: its own, if it may make one.
fs::path device(const TemporaryFolder& folder, const char* name, unsigned number) {
  const fs::path own = folder / name;
  return ::mknod(own.c_str(), S_IFCHR | 0600U, ::makedev(1, number)) == 0 ? own
                                                                          : fs::path("/dev") / name;
}

TEST_F(OutputFileTest, writes_devices_in_place) {
  const fs::path null = device(folder, "null", 3);
  const std::ptrdiff_t before = files();
  save(null, "gone");
  EXPECT_TRUE(fs::is_character_file(null));
  EXPECT_EQ(files(), before);
}

TEST_F(OutputFileTest, that_a_device_has_no_room_for_says_that_it_has_a_part) {
  const fs::path full = device(folder, "full", 7);
  if (!fs::is_character_file(full)) {
    GTEST_SKIP() << "there is no /dev/full";
  }
  EXPECT_TRUE(says(complaint_of<FileError>([&] { save(full, "x"); }),
                   "No space left on device. It may have a part of what was written"));
}

TEST_F(OutputFileTest, that_says_at_last_that_it_failed_has_failed) {
  OutputFile file(device(folder, "null", 3));
  file.write("x", 1);
  close_fails = true;
  EXPECT_TRUE(says(complaint_of<FileError>([&] { file.commit(); }), "Input/output error"));
}

TEST_F(OutputFileTest, writes_named_pipes_in_place) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string read;
  boost::thread reader([&] { read = read_file(path); });
  save(path, "through the pipe");
  reader.join();
  EXPECT_EQ(read, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, writes_open_files_of_the_process_where_they_are) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  write_file(path, "");
  const int file = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  save("/proc/self/fd/" + std::to_string(file), "after");
  save("/proc/thread-self/fd/" + std::to_string(file), " all");
  save("/dev/fd/" + std::to_string(ends[0]), "socket");
  EXPECT_EQ(read_file(path), "before after all");
  std::array<char, 7> read{};
  EXPECT_EQ(::read(ends[1], read.data(), read.size()), 6);
  EXPECT_STREQ(read.data(), "socket");
  const int for_reading = ::open(path.c_str(), O_RDONLY);
  const auto save_there = [&] { save("/dev/fd/" + std::to_string(for_reading), "x"); };
  EXPECT_TRUE(says(complaint_of<FileError>(save_there), "What was there is unchanged"));
  for (const int open : {file, for_reading, ends[0], ends[1]}) {
    EXPECT_EQ(::close(open), 0) << "only a duplicate was closed";
  }
}

}  // namespace
}  // namespace byre::test
