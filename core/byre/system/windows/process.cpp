// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/faults.hpp>
#include <byre/system/detail/process.hpp>
#include <byre/system/detail/windows.hpp>

#include <pthread.h>

#include <cstdlib>
#include <cstring>

namespace byre::inline BYRE_ABI::system {

std::uint64_t process_id() noexcept {
  return ::GetCurrentProcessId();
}

const char* program_name() noexcept {
  const char* const path = __argc > 0 && __argv != nullptr ? __argv[0] : "program";
  const char* name = path;
  for (const char* at = path; *at != '\0'; ++at) {
    name = *at == '\\' || *at == '/' ? at + 1 : name;
  }
  return name;
}

/// Windows has no programs with rights that their callers lack.
const char* trusted_variable(const char* name) noexcept {
  return std::getenv(name);
}

std::uint64_t seconds() noexcept {
  return ::GetTickCount64() / 1000;
}

void write_to_stderr(const char* text, std::size_t nbytes) noexcept {
  ::DWORD written = 0;
  ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), text, static_cast<::DWORD>(nbytes), &written,
              nullptr);
}

void watch_forks(void (*)(), void (*)(), void (*)()) noexcept {}

std::uint64_t thread_id() noexcept {
  return ::GetCurrentThreadId();
}

void write_thread_name(char* name, std::size_t nbytes) noexcept {
  if (::pthread_getname_np(::pthread_self(), name, nbytes) != 0) {
    *name = '\0';
  }
}

// Windows calls functions at the end of a thread after g++ has freed the thread-local variables of
// the thread. The library therefore has no actions there: threads have no cache of small blocks,
// and count under a lock.

ThreadVariable::ThreadVariable(void (*)(void* value)) noexcept {}

void* ThreadVariable::get() const noexcept {
  return nullptr;
}

bool ThreadVariable::set(void*) noexcept {
  return false;
}

void ThreadVariable::destroy() noexcept {}

bool stay_loaded() noexcept {
  return false;
}

void handle_faults(FaultUser, FaultAction) noexcept {}

}  // namespace byre::inline BYRE_ABI::system
