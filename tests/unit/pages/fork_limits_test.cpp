// SPDX-License-Identifier: BSL-1.0
/// Forks whose parent cannot get a private mapping of paged data: the fork succeeds, and only a use
/// of the data in the child may fail.
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>

#include "children.hpp"
#include "paged_buffers.hpp"
#include "support/emulated.hpp"
#include "support/sanitized.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// Runs `work` in a child that must be aborted. Returns the child's output on stderr.
std::string stderr_of_aborted_child(const std::function<void()>& work) {
  const ChildResult result = run_in_child(
      [&](int output) {
        redirect(STDERR_FILENO, output);
        work();
      },
      std::chrono::seconds(60));
  EXPECT_EQ(result.exit.signal(), SIGABRT) << result.exit.text();
  return result.output;
}

int read_byte(const std::byte* data) {
  return static_cast<int>(*const_cast<const volatile std::byte*>(data));
}
int read_byte(const Buffer& buffer) {
  return read_byte(buffer.data());
}

bool is_mapped(const std::byte* page) {
  unsigned char resident = 0;
  return ::mincore(const_cast<std::byte*>(page), page_nbytes, &resident) == 0;
}

void expect_only_the_child_loses_data(Buffer& buffer, Buffer& overlay) {
  in_a_child([] {});
  for (const Buffer* const lost : {&buffer, &overlay}) {
    EXPECT_NE(stderr_of_aborted_child([&] {
                (void)read_byte(*lost);
              }).find("refused the parent a private"),
              std::string::npos);
    EXPECT_NE(stderr_of_aborted_child(
                  [&] {  // the addresses stay reserved after their owners are destroyed
                    const std::byte* const data = lost->data();
                    buffer = overlay = Buffer();
                    if (is_mapped(data)) {
                      (void)read_byte(data);
                    }
                  }),
              "");
  }
  EXPECT_EQ(buffer.data()[1], std::byte{1});
  EXPECT_EQ(overlay.data()[0], std::byte{2});
  overlay = Buffer();
  EXPECT_EQ(buffer.materialize(), Materialized::already_unique);
  std::memset(buffer.mutable_data(), 3, buffer.nbytes());
  EXPECT_TRUE(is_all(buffer, std::byte{3}));
}

class PagedForkLimits : public testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized || is_emulated()) {
      GTEST_SKIP() << "sanitizers and emulators map memory themselves";
    }
  }

  /// Runs in a child process, which applies `limit` and forks. The system refuses private mappings
  /// at that fork, so the grandchild must copy the data. Each process must see only its own writes.
  static void expect_a_child_has_copies(const std::function<void()>& limit) {
    in_a_child([&] {
      Buffer buffer = filled(std::byte{1});
      Buffer overlay = buffer;
      overlay.mutable_data()[0] = std::byte{2};
      limit();
      const LateChild child([&] {
        const bool is_right = is_all(buffer, std::byte{1}) && overlay.data()[0] == std::byte{2} &&
                              overlay.data()[overlay.nbytes() - 1] == std::byte{1};
        overlay.mutable_data()[1] = std::byte{4};
        const Buffer clone = overlay;
        overlay.mutable_data()[1] = std::byte{5};
        return is_right && clone.data()[1] == std::byte{4};
      });
      EXPECT_EQ(overlay.data()[0], std::byte{2});
      overlay = Buffer();
      std::memset(buffer.mutable_data(), 3, buffer.nbytes());
      child.expect_right();
      EXPECT_TRUE(is_all(buffer, std::byte{3}));
    });
  }

  /// Runs in a child process, which makes a writable clone, applies `limit` and forks. Then both
  /// processes write source and clone, and must see only their own writes.
  static void expect_both_have_writable_clones(const std::function<void()>& limit) {
    in_a_child([&] {
      Buffer source = filled(std::byte{1});
      std::byte* const place = source.mutable_data();
      Buffer clone = source.writable_clone();
      place[0] = std::byte{2};
      clone.mutable_data()[0] = std::byte{3};
      limit();
      const LateChild child([&] {
        const bool is_right = read_byte(source) == 2 && read_byte(clone) == 3 &&
                              std::memcmp(place + 1, clone.data() + 1, paged_nbytes - 1) == 0 &&
                              read_byte(place + 1) == 1;
        place[1] = std::byte{4};
        clone.mutable_data()[2] = std::byte{5};
        return is_right && clone.data()[1] == std::byte{1} && place[2] == std::byte{1};
      });
      clone.mutable_data()[1] = std::byte{6};
      EXPECT_EQ(place[1], std::byte{1});
      clone = Buffer();
      std::memset(place, 7, paged_nbytes);
      try {
        clone = source.writable_clone();
        EXPECT_TRUE(is_all(clone, std::byte{7}));
      } catch (const OutOfMemory&) {
      }
      child.expect_right();
      EXPECT_TRUE(is_all(source, std::byte{7}));
    });
  }

  /// Runs in a child process, which allocates paged data, applies `limit` and forks.
  static void expect_only_a_child_loses_data(const std::function<void()>& limit) {
    in_a_child([&] {
      Buffer buffer = filled(std::byte{1});
      Buffer overlay = buffer;
      overlay.mutable_data()[0] = std::byte{2};
      limit();
      expect_only_the_child_loses_data(buffer, overlay);
    });
  }
};

void close_descriptors() {
  for (int number = 3; number < 100; ++number) {
    ::close(number);
  }
}

void limit_private_memory() {
  set_limit(RLIMIT_DATA, 1);
}

TEST_F(PagedForkLimits, a_limit_of_private_memory_makes_only_the_child_lose_data) {
  expect_only_a_child_loses_data(&limit_private_memory);
}

TEST_F(PagedForkLimits, locked_memory_or_lost_descriptors_make_the_child_copy) {
  expect_a_child_has_copies(&close_descriptors);
  expect_a_child_has_copies([] {
    set_limit(RLIMIT_MEMLOCK, 64 << 10);
    ASSERT_TRUE(::geteuid() != 0 || ::setuid(65534) == 0);
    ASSERT_EQ(::mlockall(MCL_FUTURE), 0);
  });
}

TEST_F(PagedForkLimits, a_child_that_copied_data_is_unaffected_by_parent_writes) {
  in_a_child([] {
    Buffer buffer = filled(std::byte{1});
    WatchedSystem system;
    system.has_pagemap_scan = system.has_pagemap = false;
    system.refuse_maps(1);
    int told[2][2];
    ASSERT_TRUE(::pipe(told[0]) == 0 && ::pipe(told[1]) == 0);
    const pid_t child = ::fork();
    char any = 0;
    if (child == 0) {
      Buffer lazy = buffer;
      lazy.mutable_data()[0] = std::byte{2};
      const Buffer writable = buffer.writable_clone();
      const bool is_told = ::write(told[0][1], &any, 1) == 1 && ::read(told[1][0], &any, 1) == 1;
      ::_exit(is_told && read_byte(lazy.data() + 1) == 1 && is_all(writable, std::byte{1}) ? 0 : 1);
    }
    EXPECT_EQ(::read(told[0][0], &any, 1), 1);
    std::memset(buffer.mutable_data(), 3, buffer.nbytes());
    EXPECT_EQ(::write(told[1][1], &any, 1), 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
}

TEST_F(PagedForkLimits, a_limit_of_mappings_makes_only_the_child_lose_data) {
  if (most_mappings() == 0) {
    GTEST_SKIP() << "the limit of mappings is too high to be reached";
  }
  expect_only_a_child_loses_data(&use_up_mappings);
}

TEST_F(PagedForkLimits, writable_clones_survive_limits_in_parent_and_child) {
  expect_both_have_writable_clones(&limit_private_memory);
  expect_both_have_writable_clones(&close_descriptors);
  if (most_mappings() != 0) {
    expect_both_have_writable_clones(&use_up_mappings);
  }
}

TEST_F(PagedForkLimits, data_made_private_before_the_limit_survives_in_the_child) {
  in_a_child([] {
    Buffer older = filled(std::byte{1});
    in_a_child([] {});
    Buffer newer = filled(std::byte{2});
    set_limit(RLIMIT_DATA, 1);
    in_a_child([&] { EXPECT_EQ(read_byte(older), 1); });
    EXPECT_NE(stderr_of_aborted_child([&] { (void)read_byte(newer); }), "");
    EXPECT_NE(stderr_of_aborted_child([&] {
                set_limit(RLIMIT_DATA, RLIM_INFINITY);  // a copy would read the lost pages
                (void)Buffer(newer).materialize();
              }),
              "");
  });
}

TEST_F(PagedForkLimits, a_fork_whose_second_mapping_fails_leaves_no_mapping) {
  in_a_child([] {
    const Buffer buffer = filled(std::byte{1});
    const std::size_t before = data_nbytes();
    set_limit(RLIMIT_DATA, before + paged_nbytes + paged_nbytes / 2);
    in_a_child([&] { EXPECT_TRUE(is_all(buffer, std::byte{1})); });
    EXPECT_LT(data_nbytes(), before + paged_nbytes / 2);
  });
}

/// Runs a child that lost two ranges and then faults at another address.
Exit exit_by_another_fault() {
  const Buffer buffer = filled(std::byte{1});
  Buffer overlay = buffer;
  overlay.mutable_data()[0] = std::byte{2};
  set_limit(RLIMIT_DATA, 1);
  return run_in_child(
             [](int) {
               (void)read_byte(static_cast<std::byte*>(
                   ::mmap(nullptr, page_nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
             },
             std::chrono::seconds(60))
      .exit;
}

TEST_F(PagedForkLimits, faults_at_other_addresses_reach_the_previous_handler) {
  in_a_child([] { EXPECT_EQ(exit_by_another_fault().signal(), SIGSEGV); });
  in_a_child([] {
    ::signal(SIGSEGV, [](int) { ::_exit(3); });
    EXPECT_EQ(exit_by_another_fault().code(), 3);
  });
  in_a_child([] {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      ::_exit(info->si_code == SEGV_ACCERR ? 4 : 5);
    };
    ::sigaction(SIGSEGV, &action, nullptr);
    EXPECT_EQ(exit_by_another_fault().code(), 4);
  });
}

using byre::detail::is_lost;

std::byte* map_pages(std::size_t count) {
  void* const pages = ::mmap(nullptr, count * page_nbytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(pages, MAP_FAILED);
  return static_cast<std::byte*>(pages);
}

TEST(LostPages, are_recognized_from_first_to_last_byte_of_any_range) {
  in_a_child([] {
    constexpr std::size_t ranges = 5000;  // more than the 4096 that are recorded individually
    std::byte* const begin = map_pages(3 * ranges + 1) + page_nbytes;
    const auto at = [&](std::size_t range) { return begin + 3 * range * page_nbytes; };
    for (std::size_t range = 0; range < ranges; ++range) {
      detail::lose_pages(at(range), 2 * page_nbytes);
    }
    for (std::size_t range = 0; range < ranges; ++range) {
      ASSERT_TRUE(is_lost(at(range))) << range;
      ASSERT_TRUE(is_lost(at(range) + 2 * page_nbytes - 1)) << range;
    }
    EXPECT_FALSE(is_lost(begin - 1));
    EXPECT_FALSE(is_lost(begin + 2 * page_nbytes));
  });
}

}  // namespace
}  // namespace byre::test
