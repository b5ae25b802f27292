// SPDX-License-Identifier: BSL-1.0
/// OutputFile: owner and permissions of the written file, and files that are written in place.
#include <byre/error/error.hpp>
#include <byre/files/output_file.hpp>
#include <byre/storage/buffer.hpp>

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <thread>

#include "output_file_fixture.hpp"
#include "support/complaint.hpp"
#include "support/features.hpp"

namespace byre::test {
namespace {

/// While an object of this class exists, the process has another user and another group, if it may
/// change them.
class AnotherUser {
 public:
  ~AnotherUser() {
    EXPECT_EQ(::seteuid(user_), 0);
    EXPECT_EQ(::setegid(group_), 0);
  }
  AnotherUser() = default;
  AnotherUser(const AnotherUser&) = delete;
  AnotherUser& operator=(const AnotherUser&) = delete;

  explicit operator bool() const { return is_changed_; }

 private:
  const ::uid_t user_ = ::geteuid();
  const ::gid_t group_ = ::getegid();
  const bool is_changed_ = ::setegid(8765) == 0 && ::seteuid(4321) == 0;
};

struct ::stat status_of(const fs::path& path) {
  struct ::stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found;
}

TEST_F(OutputFileTest, preserves_permissions_and_owner) {
  for (const ::mode_t mode : {04751U, 0640U}) {
    write_file(path, "secret");
    const bool may_give_away = ::chown(path.c_str(), 4321, 8765) == 0;
    ::chmod(path.c_str(), mode);
    save(path, "after");
    const struct ::stat after = status_of(path);
    EXPECT_EQ(disk.mode_before, 0600U) << "other users could open the new file too early";
    EXPECT_EQ(after.st_mode & 07777U, mode);
    if (may_give_away) {
      EXPECT_EQ(after.st_uid, 4321U);
      EXPECT_EQ(after.st_gid, 8765U);
    }
  }
}

TEST_F(OutputFileTest, works_in_a_writable_but_unreadable_folder) {
  if (!uses("linux")) {
    GTEST_SKIP() << "only Linux opens such a folder";
  }
  fs::permissions(folder.path(), fs::perms::all);
  const fs::path dark = folder / "dark";
  fs::create_directory(dark);
  ::chmod(dark.c_str(), 0333);
  const AnotherUser user;
  if (!user) {
    GTEST_SKIP() << "this process may not change its user";
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

TEST_F(OutputFileTest, group_permissions_equal_those_of_others_if_chown_fails) {
  fs::permissions(folder.path(), fs::perms::all);
  for (const bool may_set_group : {false, true}) {
    write_file(path, "before");
    ::chmod(path.c_str(), 04664);
    const bool has_group = !may_set_group || ::chown(path.c_str(), 0, 8765) == 0;
    const AnotherUser user;
    if (!has_group || !user) {
      GTEST_SKIP() << "this process may not change its user";
    }
    save(path, "");  // empty, because a write() would clear the set-user-ID bit too
    const struct ::stat after = status_of(path);
    EXPECT_EQ(after.st_mode & 07777U, may_set_group ? 0664U : 0644U);
    EXPECT_EQ(after.st_uid, 4321U);
    EXPECT_EQ(after.st_gid, 8765U);
  }
}

TEST_F(OutputFileTest, other_hard_links_still_refer_to_the_old_file) {
  write_file(path, "before");
  fs::create_hard_link(path, folder / "other");
  save(path, "after");
  EXPECT_EQ(read_file(path), "after");
  EXPECT_EQ(read_file(folder / "other"), "before");
}

TEST_F(OutputFileTest, a_new_file_has_default_permissions) {
  const ::mode_t before = ::umask(027);
  save(path, "x");
  ::umask(before);
  EXPECT_EQ(status_of(path).st_mode & 07777U, 0640U);
}

/// A character device with the minor number `number`. If this process may create devices, the
/// function creates one in `folder`, because a faulty OutputFile could replace a device of the
/// system. Otherwise it returns the device of the system.
fs::path device(const TemporaryFolder& folder, const char* name, unsigned number) {
  const fs::path own = folder / name;
  const auto device = static_cast<::dev_t>(makedev(1, number));
  return ::mknod(own.c_str(), S_IFCHR | 0600U, device) == 0 ? own : fs::path("/dev") / name;
}

TEST_F(OutputFileTest, writes_devices_in_place_and_reports_their_errors) {
  const fs::path null = device(folder, "null", 3);
  const fs::path full = device(folder, "full", 7);
  const std::ptrdiff_t before = files();
  save(null, "gone");
  EXPECT_TRUE(fs::is_character_file(null));
  EXPECT_EQ(files(), before);
  if (fs::is_character_file(full)) {
    EXPECT_TRUE(says(complaint_of<FileError>([&] { save(full, "x"); }),
                     "No space left on device. It may contain part of the data"));
  }
  OutputFile file(null);
  file.write("x", 1);
  close_fails = true;
  EXPECT_TRUE(says(complaint_of<FileError>([&] { file.commit(); }), "Input/output error"));
}

TEST_F(OutputFileTest, writes_named_pipes_in_place) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_file(path); });
  save(path, "through the pipe");
  reader.join();
  EXPECT_EQ(read, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, a_write_at_an_offset_of_a_pipe_fails) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] { read_file(path); });
  {
    OutputFile file(path);
    EXPECT_TRUE(says(complaint_of<FileError>([&] { file.write_at(7, "x", 1); }),
                     "at byte 7: it is written in place", "Write it in order"));
  }
  reader.join();
}

TEST_F(OutputFileTest, files_named_by_an_open_descriptor_are_written_in_place) {
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
  EXPECT_TRUE(says(complaint_of<FileError>(save_there), "The file is unchanged"));
  for (const int open : {file, for_reading, ends[0], ends[1]}) {
    EXPECT_EQ(::close(open), 0) << "OutputFile closed a descriptor that it did not open";
  }
}

}  // namespace
}  // namespace byre::test
