// SPDX-License-Identifier: BSL-1.0
/// Features of the system that a build of byre may be told not to use (Meson option `without`).
#pragma once

#include <cstdlib>
#include <string_view>

namespace byre::test {

/// Whether byre uses a feature: a value of the option `without`, such as "memfd". Meson passes the
/// option to tests in the environment. Without it, all features are expected, so that a feature
/// that is lost by mistake fails a test.
inline bool uses(std::string_view feature) {
#if defined(_WIN32)  // sections replace memory files
  const char* const given = "pagemap_scan huge_pages populate";
#elif defined(__wasm__)
  const char* const given = "linux";
#else
  const char* const given = std::getenv("BYRE_WITHOUT");
#endif
  const std::string_view without = given == nullptr ? "" : given;
  const auto lacks = [without](std::string_view name) {
    for (std::size_t at = 0; (at = without.find(name, at)) != without.npos; ++at) {
      const std::size_t end = at + name.size();
      if ((at == 0 || without[at - 1] == ' ') && (end == without.size() || without[end] == ' ')) {
        return true;
      }
    }
    return false;
  };
  return !lacks(feature) && !lacks("linux");
}

/// Whether the system protects pages, and takes back their memory.
#if defined(__wasm__)
inline constexpr bool has_protected_pages = false;
#else
inline constexpr bool has_protected_pages = true;
#endif

inline bool has_memory_files() {
  return uses("memfd");
}

/// Whether a clone may write pages back to the file of its source, or move the source to another
/// file. Sections of Windows cannot.
inline bool has_written_back_pages() {
#if defined(_WIN32)
  return false;
#else
  return has_memory_files();
#endif
}

}  // namespace byre::test
