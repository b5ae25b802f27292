// SPDX-License-Identifier: BSL-1.0
// Page guards of a checked build: operations that protected pages allow, and the behavior if the
// system refuses to protect or unprotect pages. Compiled only in checked builds.
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "pages/children.hpp"
#include "stale_pointer.hpp"
#include "support/at_once.hpp"
#include "support/sanitized.hpp"
#include "support/watched_system.hpp"

namespace byre::test {
namespace {

/// Whether a system call can write to `nbytes` at `place`.
bool system_writes(std::byte* place, std::size_t nbytes) {
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const ssize_t got = ::read(zeros, place, nbytes);
  const int error = errno;
  ::close(zeros);
  errno = error;
  return got == static_cast<ssize_t>(nbytes);
}

TEST(PageGuard, system_calls_can_read_but_not_write_shared_pages) {
  StalePointer stale(Storage::allocate(paged));
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(system_writes(stale.pointer, 8));
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(::write(nowhere, stale.storage.data(), paged), static_cast<ssize_t>(paged));
  EXPECT_TRUE(system_writes(stale.storage.mutable_data(), paged));
  ::close(nowhere);
}

TEST(PageGuard, memory_released_by_a_guarded_storage_is_writable) {
  RecyclingPool pool;
  for (const bool is_resized : {false, true}) {
    StalePointer stale(Storage::allocate(paged, pool));
    const std::byte* const shared = stale.pointer;
    stale.clone = Storage();
    if (is_resized) {
      stale.storage.resize(paged / 2);
      *stale.storage.mutable_data() = {};
      { const Storage gone = stale.storage.lazy_clone(); }
      stale.storage.resize(2 * paged);
      std::memset(stale.storage.mutable_data(), 1, 2 * paged);
    } else {
      stale.storage = Storage();
    }
    Storage recycled = Storage::allocate(paged, pool);
    ASSERT_EQ(recycled.data(), shared);
    std::memset(recycled.mutable_data(), 1, paged);
  }
  pool.trim();
}

template <class Work>
int status_of_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// A storage with data in pages. The first fork after this call maps new pages for the data.
Storage in_pages() {
  return Storage::allocate(least_paged_nbytes, paged_allocator());
}
Storage of_the_pool() {
  return Storage::allocate(least_paged_nbytes);
}

TEST(PageGuardDeathTest, a_fork_preserves_guards_in_both_processes) {
  constexpr std::size_t last = least_paged_nbytes - 1;
  for (Storage (*const make)() : {&of_the_pool, &in_pages}) {
    StalePointer inherited(make());
    EXPECT_EQ(status_of_child([&] {
                *inherited.storage.mutable_data() = std::byte{1};
                inherited.clone = Storage();
                return 0;
              }),
              0);
    EXPECT_DEATH(
        {
          StalePointer stale(make());
          const int status = status_of_child([&] {
            *stale.pointer = {};
            return 0;
          });
          ::kill(::getpid(), WTERMSIG(status));
        },
        fault_report(0, least_paged_nbytes, StalePointer::lines));
    EXPECT_DEATH(
        {
          StalePointer stale(make());
          status_of_child([] { return 0; });
          stale.pointer[last] = {};
        },
        fault_report(last, least_paged_nbytes, StalePointer::lines));
  }
}

TEST(PageGuard, threads_can_write_unique_data_during_forks) {
  constexpr std::size_t writers = 3;
  std::atomic<bool> is_over = false;
  at_once(1 + writers, [&](std::size_t thread) {
    if (thread == writers) {
      for (std::size_t fork = 0; fork < fewer_if_sanitized(100); ++fork) {
        EXPECT_EQ(status_of_child([] { return 0; }), 0);
      }
      is_over.store(true, std::memory_order::relaxed);
      return;
    }
    Storage mine = of_the_pool();
    while (!is_over.load(std::memory_order::relaxed)) {
      { const Storage gone = mine.lazy_clone(); }
      *mine.mutable_data() = std::byte{1};
    }
  });
}

TEST(PageGuardDeathTest, data_is_checksummed_while_all_4096_guards_are_in_use) {
  std::vector<StalePointer> many;
  for (int guarded = 0; guarded < 4096; ++guarded) {
    many.emplace_back(Storage::allocate(paged));
  }
  // The table is full now, or was full earlier if an earlier test still uses slots.
  StalePointer one_more(Storage::allocate(paged));
  EXPECT_DEATH((*one_more.pointer = std::byte{1}, one_more.storage.materialize()),
               "changed while it was shared, detected at");
  many.erase(many.begin() + 17);
  StalePointer instead(Storage::allocate(paged));
  EXPECT_DEATH(*instead.pointer = {}, fault_report(0, paged, StalePointer::lines));
}

TEST(PageGuard, a_refused_unprotect_is_retried_by_new_guards_and_writes) {
  WatchedSystem system;
  enum class Guards { nothing, another, another_while_refused };
  for (const Guards guards : {Guards::nothing, Guards::another, Guards::another_while_refused}) {
    StalePointer stale(Storage::allocate(paged));
    stale.clone = Storage();
    system.makes_writable = false;
    std::byte* const data = stale.storage.mutable_data();
    std::optional<StalePointer> meanwhile;
    if (guards == Guards::another_while_refused) {
      meanwhile.emplace(Storage::allocate(paged));
    }
    system.makes_writable = true;
    if (guards == Guards::another) {
      const StalePointer other(Storage::allocate(paged));
      EXPECT_TRUE(system_writes(data, 8)) << "still protected";
    }
    std::memset(data, 7, paged);
    EXPECT_EQ(data[paged - 1], std::byte{7});
  }
}

TEST(PageGuard, a_refused_unprotect_is_not_retried_after_unmapping) {
  WatchedSystem system;
  RecyclingPool pool;
  StalePointer stale(Storage::allocate(paged, pool));
  std::byte* const place = stale.pointer;
  system.makes_writable = false;
  stale.clone = Storage();
  stale.storage = Storage();
  pool.trim();
  system.makes_writable = true;
  constexpr int here = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  ASSERT_EQ(::mmap(place, paged, PROT_READ, here, -1, 0), place);
  const StalePointer other(Storage::allocate(paged));
  EXPECT_FALSE(system_writes(place, 8)) << "a retry made memory writable that byre had unmapped";
  ::munmap(place, paged);
}

TEST(PageGuardDeathTest, a_refused_unprotect_ends_the_program_only_at_a_write) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, SIG_DFL);
        WatchedSystem system;
        StalePointer stale(Storage::allocate(paged));
        stale.clone = Storage();
        system.makes_writable = false;
        std::byte* const data = stale.storage.mutable_data();
        system.makes_writable = true;
        const StalePointer other(Storage::allocate(paged));  // also unprotects `data`
        ::mprotect(data, paged, PROT_READ);
        data[0] = std::byte{1};
      },
      testing::KilledBySignal(SIGSEGV), "^$")
      << "expected no guard for these pages after the retry";
  EXPECT_EXIT(
      {
        WatchedSystem system;
        StalePointer stale(Storage::allocate(paged));
        stale.clone = Storage();
        system.makes_writable = false;
        std::byte* const data = stale.storage.mutable_data();
        stale.storage = Storage();
        data[0] = std::byte{1};
      },
      testing::KilledBySignal(SIGABRT), "cannot make write-protected pages writable");
}

TEST(PageGuardDeathTest, data_that_cannot_be_protected_is_checksummed) {
  if (most_mappings() == 0) {
    GTEST_SKIP() << "requires a limit of tens of thousands of mappings per process";
  }
  Storage storage = Storage::allocate(paged);
  // `large` is too large for a checksum. Its huge pages are one mapping, and its other pages
  // require another mapping.
  Storage large = Storage::allocate(std::size_t{3} << 20);
  constexpr int here = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  ::mmap(large.mutable_data() + (std::size_t{3} << 20), page_nbytes, PROT_READ | PROT_WRITE, here,
         -1, 0);
  const auto write = [&](Storage& written) {
    use_up_mappings();
    std::byte* const pointer = written.mutable_data();
    const Storage clone = written.lazy_clone();
    *pointer = std::byte{1};
  };
  *storage.mutable_data() = {};
  *large.mutable_data() = {};
  EXPECT_DEATH(write(storage), "changed while it was shared, detected when an owner was destroyed");
  EXPECT_EXIT((write(large), ::_exit(0)), testing::ExitedWithCode(0), "^$");
}

/// Forks a child that cannot map its paged data and then reads the byte at the address that `find`
/// returns. Ends this process by the signal that ended the child, or by SIGKILL if no signal did.
/// The traps are constructed before the page files, so a fork calls the callbacks of the traps
/// after those of the page files.
template <class Find>
[[noreturn]] void end_as_a_child_that_lost_data(const Find& find) {
  const StalePointer older(Storage::allocate(paged));
  StalePointer shared(in_pages());
  Storage alone = in_pages();
  const rlim_t before = set_limit(RLIMIT_DATA, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    set_limit(RLIMIT_DATA, before);
    ::_exit(std::to_integer<int>(*find(shared, alone)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::raise(WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
  ::_exit(0);
}

TEST(PageGuardDeathTest, pages_that_a_forked_child_cannot_map_stay_inaccessible) {
  if (is_sanitized) {
    GTEST_SKIP() << "sanitizers map memory of their own";
  }
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a new process
  using Find = const std::byte* (*)(StalePointer & shared, const Storage& alone);
  for (const Find find :
       {Find([](StalePointer&shared, const Storage&) { return shared.storage.data(); }),
        Find([](StalePointer&, const Storage&alone) {
          const Storage clone = alone.lazy_clone();
          return clone.data();
        }),
        Find([](StalePointer&shared, const Storage&) {
          const std::byte* const data = shared.storage.data();
          shared.clone = shared.storage = Storage();
          return data;
        })}) {
    EXPECT_EXIT(end_as_a_child_that_lost_data(find), testing::KilledBySignal(SIGABRT),
                "cannot access paged data in this forked process");
  }
}

}  // namespace
}  // namespace byre::test
