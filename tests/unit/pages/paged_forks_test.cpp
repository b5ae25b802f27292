// SPDX-License-Identifier: BSL-1.0
/// Data in pages, and a process that forks: neither sees what the other writes.
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "paged_buffers.hpp"
#include "support/child_process.hpp"

namespace byre::test {
namespace {

constexpr std::chrono::seconds patience(60);

TEST(PagedForks, what_a_child_writes_its_parent_does_not_see) {
  Buffer buffer = filled(std::byte{1});
  Buffer shared = filled(std::byte{5});
  Buffer overlay = shared;
  overlay.mutable_data()[0] = std::byte{6};
  const ChildResult result = run_in_child(
      [&](int) {
        std::memset(buffer.mutable_data(), 2, paged_nbytes);
        overlay.mutable_data()[1] = std::byte{7};
        Buffer clone = buffer;
        clone.mutable_data()[3] = std::byte{9};
        ::_exit(is_all(buffer, std::byte{2}) && clone.data()[3] == std::byte{9} &&
                        clone.data()[4] == std::byte{2} && overlay.data()[0] == std::byte{6} &&
                        shared.data()[1] == std::byte{5}
                    ? EXIT_SUCCESS
                    : EXIT_FAILURE);
      },
      patience);
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
  EXPECT_TRUE(is_all(buffer, std::byte{1}));
  EXPECT_EQ(overlay.data()[1], std::byte{5});
}

TEST(PagedForks, what_a_parent_writes_its_child_does_not_see) {
  Buffer buffer = filled(std::byte{1});
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char any = 0;
    const bool is_told = ::read(told[0], &any, 1) == 1;
    ::_exit(is_told && is_all(buffer, std::byte{1}) ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  std::memset(buffer.mutable_data(), 2, paged_nbytes);
  buffer = Buffer();
  ASSERT_EQ(::write(told[1], "x", 1), 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(told[0]);
  ::close(told[1]);
}

TEST(PagedForks, what_a_parent_would_write_back_its_child_does_not_see) {
  Buffer overlay = filled(std::byte{1});
  {
    const Buffer base = overlay;
    overlay.mutable_data()[0] = std::byte{2};
  }
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char any = 0;
    const bool is_told = ::read(told[0], &any, 1) == 1;
    ::_exit(is_told && overlay.data()[0] == std::byte{2} && overlay.data()[5000] == std::byte{1}
                ? EXIT_SUCCESS
                : EXIT_FAILURE);
  }
  overlay.mutable_data()[5000] = std::byte{3};
  Buffer clone = overlay;
  EXPECT_EQ(clone.materialize(), Materialized::overlaid);
  EXPECT_EQ(clone.data()[5000], std::byte{3});
  ASSERT_EQ(::write(told[1], "x", 1), 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(told[0]);
  ::close(told[1]);
}

TEST(PagedForks, overlays_after_a_fork_have_what_was_written_since) {
  Buffer buffer = filled(std::byte{1});
  (void)run_in_child([](int) {}, patience);
  buffer.mutable_data()[5] = std::byte{2};
  Buffer clone = buffer;
  clone.mutable_data()[6] = std::byte{3};
  EXPECT_EQ(clone.data()[5], std::byte{2});
  EXPECT_EQ(buffer.data()[6], std::byte{1});
}

}  // namespace
}  // namespace byre::test
