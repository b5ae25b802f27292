// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/faults.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "support/features.hpp"

namespace byre::test {
namespace {

using system::FaultUser;

/// Installs a handler of the program that ends it with status 42, then lets both users of the
/// library handle faults twice, and accesses a page that neither of them knows.
void fault_behind_all_handlers() {
  struct sigaction own {};
  own.sa_handler = [](int) { ::_exit(42); };
  ::sigaction(SIGSEGV, &own, nullptr);
  for (int round = 0; round < 2; ++round) {
    system::handle_faults(FaultUser::page_guards, [](const void*) noexcept { return false; });
    system::handle_faults(FaultUser::lost_pages, [](const void*) noexcept { return false; });
  }
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

TEST(FaultsDeathTest, an_unknown_fault_reaches_the_handler_of_the_program) {
  if (!uses("linux")) {
    GTEST_SKIP() << "the library handles no faults";
  }
  EXPECT_EXIT(fault_behind_all_handlers(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace byre::test
