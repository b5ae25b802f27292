// SPDX-License-Identifier: BSL-1.0
#include "target.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace byre::fuzz {

const char* program_name() noexcept {
#if defined(__GLIBC__)
  return program_invocation_short_name;
#else
  return target_name;
#endif
}

void fail(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "%s: ", program_name());
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\nBYRE_FUZZ_TRACE=1 %s FILE says what this input does.\n", program_name());
  va_end(arguments);
  std::abort();
}

void trace(const char* format, ...) noexcept {
  static const bool wanted = std::getenv("BYRE_FUZZ_TRACE") != nullptr;
  if (wanted) {
    std::va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
  }
}

}  // namespace byre::fuzz
