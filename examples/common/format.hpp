// SPDX-License-Identifier: BSL-1.0
/// Formats figures as text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace examples {

/// Formats like printf. Truncates the text to 159 characters.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

inline std::string milliseconds(std::int64_t ns) {
  return format("%.3f ms", static_cast<double>(ns) / 1e6);
}

template <class Count>
std::string mebibytes(Count nbytes) {
  return format("%.1f MiB", static_cast<double>(nbytes) / (1 << 20));
}

}  // namespace examples
