// SPDX-License-Identifier: BSL-1.0
#include "trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace byre::programs {
namespace {

constinit thread_local Log* this_threads_log = nullptr;

bool is_wanted() noexcept {
  static const bool wanted = std::getenv("BYRE_STEPS") != nullptr;
  return wanted;
}

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
  if (!is_wanted() && this_threads_log == nullptr) {
    return;
  }
  char line[Log::line_length];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  trace_words(line);
}

void trace_words(const char* words) noexcept {
  if (Log* const log = this_threads_log) {
    // Relaxed: only the report of a crash may read an incomplete line.
    const std::size_t count = log->count_.load(std::memory_order_relaxed);
    auto& line = log->lines_[count % Log::length];
    const std::size_t length = ::strnlen(words, line.size() - 1);
    std::memcpy(line.data(), words, length);
    line[length] = '\0';
    log->count_.store(count + 1, std::memory_order_relaxed);
  }
  if (is_wanted()) {
    std::fprintf(stderr, "%s\n", words);
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
