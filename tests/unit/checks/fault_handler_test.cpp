// SPDX-License-Identifier: BSL-1.0
// The handler of SIGSEGV of a checked build: who gets the faults of others. Compiled in checked builds only. Each
// test has a process of its own, in which nothing is guarded yet: it begins at main().
#include <byre/checks/detail/page_guard.hpp>
#include <byre/memory/pages.hpp>
#include <byre/storage/storage.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>

#include "stale_pointer.hpp"
#include "support/sanitized.hpp"

namespace byre::test {
namespace {

class FaultHandlerDeathTest : public testing::Test {
 protected:
  FaultHandlerDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  static void fault_elsewhere() { *elsewhere() = {}; }
  static void guard_something() { const StalePointer stale(Storage::allocate(paged)); }
  static std::byte* elsewhere() {
    static void* const page =
        ::mmap(nullptr, page_nbytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return static_cast<std::byte*>(page);
  }

  static void install(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = flags | SA_SIGINFO;
    sigaddset(&action.sa_mask, SIGUSR1);
    ::sigaction(SIGSEGV, &action, nullptr);
  }
};

TEST_F(FaultHandlerDeathTest, a_handler_before_is_told_of_the_address_and_may_mend_it) {
  EXPECT_EXIT(
      {
        install([](int, siginfo_t* info, void* context) {
          if (info->si_addr == elsewhere() && context != nullptr) {
            ::mprotect(elsewhere(), page_nbytes, PROT_READ | PROT_WRITE);
          } else {
            ::_exit(1);
          }
        });
        guard_something();
        fault_elsewhere();
        ::_exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(FaultHandlerDeathTest, a_handler_before_finds_the_stack_and_mask_it_asked_for) {
  static std::byte stack[std::size_t{64} << 10];
  const auto look = [](int, siginfo_t*, void*) {
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    const auto* const here = static_cast<std::byte*>(__builtin_frame_address(0));
    const bool is_on_stack = here >= stack && here < stack + sizeof stack;
    ::_exit((is_on_stack ? 100 : 0) + (sigismember(&blocked, SIGUSR1) != 0 ? 10 : 0) +
            (sigismember(&blocked, SIGSEGV) != 0 ? 1 : 0));
  };
  const auto fault_on = [&](int flags) {
    const stack_t alternative{stack, 0, sizeof stack};
    ::sigaltstack(&alternative, nullptr);
    install(look, flags);
    guard_something();
    fault_elsewhere();
  };
  EXPECT_EXIT(fault_on(SA_ONSTACK), testing::ExitedWithCode(111), "^$");
  if (!is_thread_sanitized) {  // which blocks the signal whatever was asked for
    EXPECT_EXIT(fault_on(SA_ONSTACK | SA_NODEFER), testing::ExitedWithCode(110), "^$");
  }
}

TEST_F(FaultHandlerDeathTest, a_neighbour_of_guarded_pages_is_elsewhere) {
  const auto fault_at = [](std::ptrdiff_t byte) {
    install([](int, siginfo_t*, void*) { ::_exit(7); });
    auto* const pages = static_cast<std::byte*>(
        ::mmap(nullptr, 3 * page_nbytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (detail::may_guard_pages() &&
        detail::guard({pages + page_nbytes, page_nbytes, page_nbytes, {}, {}}) != nullptr) {
      pages[static_cast<std::ptrdiff_t>(page_nbytes) + byte] = {};
    }
  };
  constexpr auto nbytes = static_cast<std::ptrdiff_t>(page_nbytes);
  EXPECT_EXIT(fault_at(-1), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(fault_at(nbytes), testing::ExitedWithCode(7), "^$");
  EXPECT_DEATH(fault_at(0), "a write to shared data");
  EXPECT_DEATH(fault_at(nbytes - 1), "a write to shared data");
}

TEST_F(FaultHandlerDeathTest, faults_and_signals_do_what_they_did_before) {
  const auto end = [](void (*handler)(int), bool is_sent) {
    ::signal(SIGSEGV, handler);
    guard_something();
    if (is_sent) {
      ::kill(::getpid(), SIGSEGV);
      ::_exit(3);
    }
    fault_elsewhere();
  };
  const auto exit_by_number = [](int signal) { ::_exit(110 + signal); };
  for (const bool is_sent : {false, true}) {
    EXPECT_EXIT(end(SIG_DFL, is_sent), testing::KilledBySignal(SIGSEGV), "^$");
    EXPECT_EXIT(end(exit_by_number, is_sent), testing::ExitedWithCode(110 + SIGSEGV), "^$");
  }
  EXPECT_EXIT(end(SIG_IGN, false), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(end(SIG_IGN, true), testing::ExitedWithCode(3), "^$");
}

TEST_F(FaultHandlerDeathTest, a_signal_that_was_sent_is_no_fault_whatever_it_carries) {
  EXPECT_EXIT(
      {
        install([](int, siginfo_t*, void*) { ::_exit(7); });
        const StalePointer stale(Storage::allocate(paged));
        siginfo_t info{};
        info.si_code = SI_QUEUE;
        info.si_addr = stale.pointer;
        ::syscall(SYS_rt_sigqueueinfo, ::getpid(), SIGSEGV, &info);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(FaultHandlerDeathTest, a_sanitizer_before_reports_a_fault_elsewhere) {
  if (!is_sanitized) {
    GTEST_SKIP() << "for builds with a sanitizer";
  }
  EXPECT_DEATH((guard_something(), fault_elsewhere()), "Sanitizer.*SEGV on unknown address");
}

TEST_F(FaultHandlerDeathTest, a_handler_that_comes_later_and_chains_leaves_the_report) {
  static struct sigaction before;
  EXPECT_DEATH(
      {
        StalePointer stale(Storage::allocate(paged));
        ::sigaction(SIGSEGV, nullptr, &before);
        install([](int signal, siginfo_t* info, void* context) {
          before.sa_sigaction(signal, info, context);
        });
        *stale.pointer = {};
      },
      fault(0, paged, StalePointer::lines));
}

}  // namespace
}  // namespace byre::test
