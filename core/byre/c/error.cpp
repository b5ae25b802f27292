// SPDX-License-Identifier: BSL-1.0
#include <byre/c/detail/calls.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>

namespace byre::inline BYRE_ABI::detail::from_c {
namespace {

/// Shorter than a Text, because each thread has one, also threads that never call C.
constinit thread_local char last_error[512] = "";

void store(const char* text) noexcept {
  constexpr std::size_t room = sizeof last_error - 1;
  const std::size_t length = std::strlen(text);
  std::memcpy(last_error, text, (std::min)(length, room));
  last_error[(std::min)(length, room)] = '\0';
  if (length > room) {
    std::memcpy(last_error + room - 3, "...", 3);
  }
}

byre_status passed_on(byre_status status) noexcept {
  return status == BYRE_OUT_OF_MEMORY || status >= BYRE_USER_STATUS ? status : BYRE_FAILED;
}

}  // namespace

constinit thread_local CallSite call_site{};
constinit stats::detail::RelaxedFlag call_sites_are_set;

CallbackFailed::CallbackFailed(byre_status status, const char* callback, const char* owner) noexcept
    : Error(format_text("%s of %.200s returned status %d (%s). Find the cause in this callback.",
                        callback, owner, static_cast<int>(status), byre_status_name(status))),
      status_(passed_on(status)) {}

byre_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const CallbackFailed& error) {
    store(error.what());
    return error.status();
  } catch (const OutOfMemory& error) {
    store(error.what());
    return BYRE_OUT_OF_MEMORY;
  } catch (const std::bad_alloc&) {
    store(OutOfMemory::of_heap("this call").what());
    return BYRE_OUT_OF_MEMORY;
  } catch (const InvalidArgument& error) {
    store(error.what());
    return BYRE_INVALID_ARGUMENT;
  } catch (const NotUnique& error) {
    store(error.what());
    return BYRE_NOT_UNIQUE;
  } catch (const FileError& error) {
    store(error.what());
    return BYRE_FILE_ERROR;
  } catch (const std::exception& error) {
    store(error.what());
    return BYRE_FAILED;
  } catch (...) {
    store("a callback threw an exception of an unknown type. Catch exceptions in callbacks.");
    return BYRE_FAILED;
  }
}

void refuse_null(const char* call, const char* name) {
  throw InvalidArgument(
      format_text("%s: the argument `%s` is NULL. Pass the address of an object.", call, name));
}

void expect_enumerator(std::int32_t number, std::int32_t count, const char* type) {
  if (number < 0 || number >= count) {
    throw InvalidArgument(format_text("%s is %d, allowed are 0 to %d. Pass an enumerator of it.",
                                      type, static_cast<int>(number), static_cast<int>(count - 1)));
  }
}

char* copied_text(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) {
    throw OutOfMemory(text.size() + 1, "heap, for a text");
  }
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace byre::inline BYRE_ABI::detail::from_c

using namespace byre;
using namespace byre::detail::from_c;

uint32_t byre_abi() {
  return BYRE_C_ABI;
}

const char* byre_version() {
  return BYRE_VERSION_STRING;
}

const char* byre_status_name(byre_status status) {
  static constexpr const char* names[] = {
      "ok", "out of memory", "invalid argument", "not unique", "file error", "failed", "stop"};
  return status >= BYRE_USER_STATUS                              ? "status of a callback"
         : status >= 0 && status < byre_status(std::size(names)) ? names[status]
                                                                 : "unknown status";
}

const char* byre_last_error() {
  return last_error;
}

byre_warning_handler byre_set_warning_handler(byre_warning_handler handler) {
  // A handler in C cannot throw. The types differ only in `noexcept`.
  return set_warning_handler(reinterpret_cast<WarningHandler>(handler));
}

void byre_set_call_site(const char* file, uint32_t line) {
  if (!call_sites_are_set.is_set()) {  // a store by each thread would contend for the cache line
    call_sites_are_set.set(true);
  }
  call_site = file == nullptr ? CallSite{} : CallSite{file, line};
}

void byre_text_free(char* text) {
  std::free(text);
}
