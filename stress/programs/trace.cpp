// SPDX-License-Identifier: BSL-1.0
#include "trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace byre::programs {
namespace {

constinit thread_local Log* this_threads_log = nullptr;

}  // namespace

const char* program_name() noexcept {
#if defined(__GLIBC__)
  return program_invocation_short_name;
#else
  return "program";
#endif
}

void fail(const char* format, ...) noexcept {
  char text[500];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  trace("FAILED: %s", text);
  std::fprintf(stderr, "%s: FAILED: %s\n", program_name(), text);
  std::abort();
}

void trace(const char* format, ...) noexcept {
  static const bool is_wanted = std::getenv("BYRE_STEPS") != nullptr;
  Log* const log = this_threads_log;
  if (!is_wanted && log == nullptr) {
    return;
  }
  char line[120];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (log != nullptr) {
    // Relaxed: a reader that sees half a line is about to report a crash.
    const std::size_t count = log->count_.load(std::memory_order_relaxed);
    std::copy(std::begin(line), std::end(line), log->lines_[count % Log::length].begin());
    log->count_.store(count + 1, std::memory_order_relaxed);
  }
  if (is_wanted) {
    std::fprintf(stderr, "%s\n", line);
  }
}

std::vector<std::string> Log::lines() const {
  const std::size_t end = count_.load(std::memory_order_relaxed);
  std::vector<std::string> lines;
  for (std::size_t at = end - std::min(end, length); at != end; ++at) {
    lines.emplace_back(lines_[at % length].data());
  }
  return lines;
}

void Log::use(Log* log) noexcept {
  this_threads_log = log;
}

}  // namespace byre::programs
