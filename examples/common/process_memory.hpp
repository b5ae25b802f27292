// SPDX-License-Identifier: BSL-1.0
/// The memory of this process as Linux counts it. The figures are unknown on other systems, and
/// with AddressSanitizer, which delays the release of freed memory and uses memory itself.
#pragma once

#include <byre/memory/pool.hpp>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace examples {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_memory_known = false;
#elif defined(__has_feature)
inline constexpr bool is_memory_known = !__has_feature(address_sanitizer);
#else
inline constexpr bool is_memory_known = true;
#endif

/// The figure of a line such as "VmHWM:   1234 kB", in bytes.
inline std::optional<std::int64_t> figure_in(const char* file, const std::string& key) {
  std::ifstream lines(file);
  std::string word;
  while (is_memory_known && lines >> word) {
    std::int64_t kibibytes = 0;
    if (word == key + ":" && lines >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::nullopt;
}

/// Returns free memory of malloc and of byre's pool to the system.
inline void release_free_memory() {
  byre::default_pool().trim();
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

/// Releases free memory, and returns the resident bytes, counted by pages. `key` is "Rss" for all
/// pages, or "Anonymous" for pages that belong to no file.
inline std::optional<std::int64_t> resident_nbytes(const char* key = "Rss") {
  release_free_memory();
  return figure_in("/proc/self/smaps_rollup", key);
}

/// The peak of resident bytes since the construction of the object. The constructor releases free
/// memory.
class PeakMemory {
 public:
  PeakMemory() {
    release_free_memory();
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
    // A system that ignores the request to reset the peak still reports an older, higher peak.
    const auto peak = nbytes();
    const auto now = figure_in("/proc/self/status", "VmRSS");
    is_counting_ = peak && now && *peak <= *now + (1 << 20);
  }
  /// The peak, or nullopt if the system cannot reset it.
  std::optional<std::int64_t> nbytes() const {
    return is_counting_ ? figure_in("/proc/self/status", "VmHWM") : std::nullopt;
  }

 private:
  bool is_counting_ = true;
};

}  // namespace examples
