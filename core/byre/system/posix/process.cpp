// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/process.hpp>

#include <pthread.h>
#include <unistd.h>

namespace byre::inline BYRE_ABI::system {

std::uint64_t process_id() noexcept {
  return static_cast<std::uint64_t>(::getpid());
}

void write_to_stderr(const char* text, std::size_t nbytes) noexcept {
  [[maybe_unused]] const ::ssize_t written = ::write(STDERR_FILENO, text, nbytes);
}

void watch_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  ::pthread_atfork(before, in_parent, in_child);
}

static_assert(sizeof(::pthread_key_t) <= sizeof(std::uintptr_t));

ThreadVariable::ThreadVariable(void (*at_end)(void* value)) noexcept {
  ::pthread_key_t key{};
  has_key_ = ::pthread_key_create(&key, at_end) == 0;
  key_ = static_cast<std::uintptr_t>(key);
}

void* ThreadVariable::get() const noexcept {
  return ::pthread_getspecific(static_cast<::pthread_key_t>(key_));
}

bool ThreadVariable::set(void* value) noexcept {
  return ::pthread_setspecific(static_cast<::pthread_key_t>(key_), value) == 0;
}

void ThreadVariable::destroy() noexcept {
  ::pthread_key_delete(static_cast<::pthread_key_t>(key_));
  has_key_ = false;
}

}  // namespace byre::inline BYRE_ABI::system
