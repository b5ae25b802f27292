// SPDX-License-Identifier: BSL-1.0
/// A small request when malloc has nothing left, in a process of its own whose memory is limited.
#include <byre/error/error.hpp>
#include <byre/memory/pool.hpp>
#include <byre/storage/buffer.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "nbytes.hpp"
#include "support/emulated.hpp"

namespace byre::test {
namespace {

/// So many more bytes of address space, and no more.
void limit_memory(std::size_t more_nbytes) {
  const std::size_t most_nbytes = address_space_nbytes() + more_nbytes;
  const rlimit limit{most_nbytes, most_nbytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) {
    std::exit(2);
  }
}

/// How many megabytes of small buffers could be had, up to a hundred.
std::size_t take_small_buffers() {
  constexpr std::size_t nbytes = 32 << 10;
  std::vector<Buffer> buffers;
  buffers.reserve(100 * mib / nbytes);
  try {
    while (buffers.size() < 100 * mib / nbytes) {
      buffers.push_back(Buffer::allocate(nbytes));
    }
  } catch (const OutOfMemory&) {
  }
  return buffers.size() * nbytes / mib;
}

[[noreturn]] void say_how_many(std::size_t idle_nbytes) {
  { const Buffer idle = Buffer::allocate(idle_nbytes); }
  limit_memory(16 * mib);
  const std::size_t taken = take_small_buffers();
  std::fprintf(stderr, "%s, %zu idle", taken == 100 ? "all" : "not all",
               default_pool().idle_nbytes());
  std::exit(0);
}

class MallocRefusalDeathTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
    GTEST_SKIP() << "a sanitizer's allocator needs the address space";
#endif
    if (is_emulated()) {
      GTEST_SKIP() << "an emulated machine's programs have no limit of their own";
    }
    testing::FLAGS_gtest_death_test_style = death_test_style();
  }
};

TEST_F(MallocRefusalDeathTest, gives_idle_blocks_back_and_tries_again) {
  EXPECT_EXIT(say_how_many(200 * mib), testing::ExitedWithCode(0), "all, 0 idle");
}

TEST_F(MallocRefusalDeathTest, throws_when_nothing_was_idle) {
  EXPECT_EXIT(say_how_many(1), testing::ExitedWithCode(0), "not all, 0 idle");
}

}  // namespace
}  // namespace byre::test
