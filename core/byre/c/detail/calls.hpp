// SPDX-License-Identifier: BSL-1.0
/// What every function of the C interface does: it calls C++, and converts an exception to a status
/// and a text. handles.hpp converts the arguments.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/counters.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

// The definitions are exported as BYRE_API says: a library that contains byre statically must not
// export them, or another such library would use its state.
#define BYRE_C_API BYRE_API
#define BYRE_C_NO_INLINE
#include <byre/byre.h>

namespace byre::inline BYRE_ABI::detail::from_c {

/// A callback returned a status, which its caller receives.
class CallbackFailed final : public Error {
 public:
  CallbackFailed(byre_status status, const char* callback, const char* owner) noexcept;
  byre_status status() const noexcept { return status_; }

 private:
  byre_status status_;
};

/// Stores the text of the current exception for byre_last_error(), and returns the status for it.
/// Requires a current exception.
[[gnu::cold]] byre_status status_of_exception() noexcept;

/// Calls `call()`. Returns the status for the exception that it throws, or BYRE_OK.
template <class Call>
[[gnu::always_inline]] inline byre_status guarded(Call call) noexcept {
  try {
    call();
    return BYRE_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// The place of byre_set_call_site() for this thread.
extern constinit thread_local CallSite call_site;
/// Whether a thread has called byre_set_call_site().
extern constinit stats::detail::RelaxedFlag call_sites_are_set;

/// The place of this thread if it is recorded or checked. To read a thread-local variable of a
/// library costs a call, which is a tenth of a clone.
inline CallSite call_site_to_record() noexcept {
  return call_sites_are_set.is_set() && (BYRE_CHECKS || stats::detail::may_record()) ? call_site
                                                                                     : CallSite{};
}

/// Throws InvalidArgument: the parameter `name` of the function `call` is null.
[[noreturn, gnu::cold]] void refuse_null(const char* call, const char* name);

inline void expect_given(const void* pointer, const char* call, const char* name) {
  if (pointer == nullptr) [[unlikely]] {
    refuse_null(call, name);
  }
}

template <class Result, class... Parameters>
void expect_callback(Result (*callback)(Parameters...), const char* call) {
  expect_given(reinterpret_cast<const void*>(callback), call, "callback");
}

/// Throws InvalidArgument if `number` is not one of the `count` enumerators of `type`.
void expect_enumerator(std::int32_t number, std::int32_t count, const char* type);

/// A copy of `text` for byre_text_free(). Throws OutOfMemory.
char* copied_text(const std::string& text);

/// A new T, made from `arguments`. Throws OutOfMemory, and what the constructor of T throws.
template <class T, class... Arguments>
T* made_new(Arguments&&... arguments) {
  T* const made = new (std::nothrow) T{std::forward<Arguments>(arguments)...};
  if (made == nullptr) {
    throw OutOfMemory(sizeof(T), "heap, for a handle of the C interface");
  }
  return made;
}

/// Stores what made_new() returns in `*result`, and throws what it throws.
template <class T, class... Arguments>
void create(T** result, const char* call, Arguments&&... arguments) {
  expect_given(result, call, "result");
  *result = made_new<T>(std::forward<Arguments>(arguments)...);
}

}  // namespace byre::inline BYRE_ABI::detail::from_c
