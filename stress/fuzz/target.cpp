// SPDX-License-Identifier: BSL-1.0
#include "target.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace byre::fuzz {

void fail(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "fuzz_%s: ", target_name);
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\nBYRE_FUZZ_TRACE=1 fuzz_%s FILE says what this input does.\n",
               target_name);
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
