// SPDX-License-Identifier: BSL-1.0
// The SIGSEGV handler of a checked build, and the faults that it forwards. Compiled only in checked
// builds. Each test runs in a new process that starts at main(), in which no page is guarded yet.
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

  static void fault_in_other_page() { *other_page() = {}; }
  static void guard_some_pages() { const StalePointer stale(Storage::allocate(paged)); }
  static std::byte* other_page() {
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

TEST_F(FaultHandlerDeathTest, an_earlier_handler_gets_the_address_and_may_recover) {
  EXPECT_EXIT(
      {
        install([](int, siginfo_t* info, void* context) {
          if (info->si_addr == other_page() && context != nullptr) {
            ::mprotect(other_page(), page_nbytes, PROT_READ | PROT_WRITE);
          } else {
            ::_exit(1);
          }
        });
        guard_some_pages();
        fault_in_other_page();
        ::_exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(FaultHandlerDeathTest, an_earlier_handler_gets_its_signal_stack_and_signal_mask) {
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
    guard_some_pages();
    fault_in_other_page();
  };
  EXPECT_EXIT(fault_on(SA_ONSTACK), testing::ExitedWithCode(111), "^$");
  if (!is_thread_sanitized) {  // ThreadSanitizer ignores SA_NODEFER
    EXPECT_EXIT(fault_on(SA_ONSTACK | SA_NODEFER), testing::ExitedWithCode(110), "^$");
  }
}

TEST_F(FaultHandlerDeathTest, a_fault_next_to_guarded_pages_is_forwarded) {
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
  EXPECT_DEATH(fault_at(0), "write to shared data");
  EXPECT_DEATH(fault_at(nbytes - 1), "write to shared data");
}

TEST_F(FaultHandlerDeathTest, other_faults_and_signals_behave_as_without_byre) {
  const auto end = [](void (*handler)(int), bool is_sent) {
    ::signal(SIGSEGV, handler);
    guard_some_pages();
    if (is_sent) {
      ::kill(::getpid(), SIGSEGV);
      ::_exit(3);
    }
    fault_in_other_page();
  };
  const auto exit_by_number = [](int signal) { ::_exit(110 + signal); };
  for (const bool is_sent : {false, true}) {
    EXPECT_EXIT(end(SIG_DFL, is_sent), testing::KilledBySignal(SIGSEGV), "^$");
    EXPECT_EXIT(end(exit_by_number, is_sent), testing::ExitedWithCode(110 + SIGSEGV), "^$");
  }
  EXPECT_EXIT(end(SIG_IGN, false), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(end(SIG_IGN, true), testing::ExitedWithCode(3), "^$");
}

TEST_F(FaultHandlerDeathTest, a_signal_sent_with_a_guarded_address_is_forwarded) {
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

TEST_F(FaultHandlerDeathTest, the_handler_of_a_sanitizer_reports_other_faults) {
  if (!is_sanitized) {
    GTEST_SKIP() << "requires a build with a sanitizer";
  }
  EXPECT_DEATH((guard_some_pages(), fault_in_other_page()), "Sanitizer.*SEGV on unknown address");
}

TEST_F(FaultHandlerDeathTest, a_fault_forwarded_by_a_later_handler_is_reported) {
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
      fault_report(0, paged, StalePointer::lines));
}

}  // namespace
}  // namespace byre::test
