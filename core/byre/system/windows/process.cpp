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

/// On x86-64 all functions have one calling convention. Windows frees the index for all threads at
/// once, and then calls the function for each value.
ThreadVariable::ThreadVariable(void (*at_end)(void* value)) noexcept
    : key_(::FlsAlloc(at_end)), has_key_(key_ != FLS_OUT_OF_INDEXES) {}

void* ThreadVariable::get() const noexcept {
  const ::DWORD error = ::GetLastError();
  void* const value = ::FlsGetValue(static_cast<::DWORD>(key_));
  ::SetLastError(error);  // FlsGetValue() clears it
  return value;
}

bool ThreadVariable::set(void* value) noexcept {
  return ::FlsSetValue(static_cast<::DWORD>(key_), value) != 0;
}

void ThreadVariable::destroy() noexcept {
  has_key_ = false;
  ::FlsFree(static_cast<::DWORD>(key_));
}

bool process_ends() noexcept {
  const auto ends = reinterpret_cast<::BOOLEAN(NTAPI*)()>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "RtlDllShutdownInProgress")));
  return ends != nullptr && ends() != 0;
}

bool outlives_this_library() noexcept {
  ::HMODULE library = nullptr;
  ::GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<const wchar_t*>(&outlives_this_library), &library);
  return library != ::GetModuleHandleW(nullptr) && !process_ends();
}

bool stay_loaded() noexcept {
  return false;
}

void handle_faults(FaultUser, FaultAction) noexcept {}

}  // namespace byre::inline BYRE_ABI::system
