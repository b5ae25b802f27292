// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/descriptor.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "../files/output_file_fixture.hpp"
#include "support/child_process.hpp"

namespace byre::test {
namespace {

using detail::Descriptor;

Descriptor opened(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

class DescriptorTest : public testing::Test {
 protected:
  const TemporaryFolder folder;
  Descriptor file = opened(folder / "file");
  const int number = file.number();
};

TEST(Descriptor, is_empty_if_no_file_was_opened) {
  EXPECT_FALSE(Descriptor());
  EXPECT_FALSE(Descriptor(-1));
  EXPECT_EQ(Descriptor().number(), -1);
  EXPECT_TRUE(Descriptor().close());
}

TEST(Descriptor, preserves_errno_of_a_failed_open) {
  Descriptor file;
  file = opened("/no/such/folder/file");
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(DescriptorTest, closes_its_file_once) {
  ASSERT_TRUE(is_open(number));
  Descriptor moved(std::move(file));
  EXPECT_EQ(moved.number(), number);
  EXPECT_TRUE(file.close());
  EXPECT_TRUE(is_open(number));
  moved = Descriptor();
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, the_number_is_at_least_3_and_the_file_closes_on_exec) {
  const TemporaryFolder folder;
  for (const int closed : {0, 1, 2}) {
    const ChildResult result = run_in_child(
        [&](int) {
          for (int number = closed; number < 3; ++number) {
            ::close(number);
          }
          const Descriptor file = opened(folder / "file");
          bool is_right = file.number() >= 3;
          for (int number = closed; number < 3; ++number) {
            is_right = is_right && !is_open(number);
          }
          is_right = is_right && (::fcntl(file.number(), F_GETFD) & FD_CLOEXEC) != 0;
          ::_exit(is_right ? 0 : 1);
        },
        std::chrono::seconds(60));
    EXPECT_TRUE(result.exit.is_success()) << closed << ": " << result.exit.text();
  }
}

TEST(Descriptor, is_empty_if_all_numbers_from_3_on_are_in_use) {
  const TemporaryFolder folder;
  const ChildResult result = run_in_child(
      [&](int) {
        ::close(0);
        const rlimit standard_streams{.rlim_cur = 3, .rlim_max = 3};
        ::setrlimit(RLIMIT_NOFILE, &standard_streams);
        close_fails = true;  // sets another errno
        const Descriptor file = opened(folder / "file");
        ::_exit(!file && errno == EINVAL ? 0 : 1);
      },
      std::chrono::seconds(60));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text();
}

TEST_F(DescriptorTest, the_number_is_minus_1_after_other_code_closed_the_file) {
  ::close(file.number());
  errno = 0;
  EXPECT_EQ(file.number(), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(file);
  EXPECT_TRUE(file.close());
  EXPECT_FALSE(file);
}

TEST_F(DescriptorTest, does_not_close_another_file_with_its_number) {
  ::close(number);
  ASSERT_EQ(::open((folder / "other").c_str(), O_RDWR | O_CREAT, 0600), number);
  errno = 0;
  EXPECT_EQ(file.number(), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(file.close());
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST_F(DescriptorTest, is_valid_if_dup2_restored_the_file_under_its_number) {
  const int saved = ::dup(number);
  ::close(number);
  ASSERT_EQ(::dup2(saved, number), number);
  EXPECT_EQ(file.number(), number);
  EXPECT_TRUE(file.close());
  EXPECT_FALSE(is_open(number));
  EXPECT_TRUE(is_open(saved));
  ::close(saved);
}

TEST_F(DescriptorTest, a_descriptor_with_an_equal_number_may_be_assigned) {
  ::close(number);
  Descriptor again = opened(folder / "file");
  ASSERT_EQ(again.number(), number);
  file = std::move(again);
  EXPECT_EQ(file.number(), number);
  Descriptor& itself = file;
  file = std::move(itself);
  EXPECT_EQ(file.number(), number);
}

TEST_F(DescriptorTest, file_identity_remains_known_after_close) {
  file.close();
  EXPECT_EQ(file.identity(), opened(folder / "file").identity());
  EXPECT_NE(file.identity(), opened(folder / "other").identity());
}

TEST_F(DescriptorTest, a_failed_close_is_reported_once) {
  close_fails = true;
  EXPECT_FALSE(file.close());
  EXPECT_EQ(errno, EIO);
  EXPECT_TRUE(file.close());
}

}  // namespace
}  // namespace byre::test
