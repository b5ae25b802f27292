// SPDX-License-Identifier: BSL-1.0
#include "resources.hpp"

#include <byre/memory/pool.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/heap_nbytes.hpp"
#include "support/sanitized.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace byre::stress {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/self/status such as "VmHWM:   1234 kB".
std::uint64_t status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::uint64_t value = 0;
  for (std::string word; file >> word;) {
    if (word == key + ":" && file >> value) {
      return value;
    }
  }
  return 0;
}

std::uint64_t status_nbytes(const std::string& key) {
  return status(key) * 1024;
}

/// The file that pages are taken of counts always: a fork ends it, and it is made again when pages are next needed.
std::uint64_t open_files() {
  std::error_code unreadable;
  std::uint64_t of_pages = 0;
  std::uint64_t others = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", unreadable)) {
    const bool is_of_pages =
        fs::read_symlink(entry, unreadable).string().starts_with("/memfd:byre");
    ++(is_of_pages ? of_pages : others);
  }
  return others + std::max<std::uint64_t>(of_pages, 1);
}

std::uint64_t lines_of(const fs::path& path) {
  std::ifstream file(path);
  return static_cast<std::uint64_t>(
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

}  // namespace

void pin_malloc_thresholds() {
#if defined(__GLIBC__)
  constexpr int usual_threshold = 128 << 10;
  mallopt(M_MMAP_THRESHOLD, usual_threshold);  // setting it also ends its adaptation
  mallopt(M_TRIM_THRESHOLD, usual_threshold);
#endif
}

Resources resources_after_trimming() {
  default_pool().trim();
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  return {.resident_nbytes = status_nbytes("VmRSS"),
          .heap_nbytes = test::heap_nbytes().value_or(0),
          .mappings = lines_of("/proc/self/maps"),
          .files = open_files(),
          .threads = status("Threads")};
}

bool can_judge_growth() noexcept {
  return !test::is_sanitized;
}

std::vector<std::string> growth(const Resources& before, const Resources& after) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  constexpr std::uint64_t mappings_of_arenas = 256;
  std::vector<std::string> grown;
  const auto judge = [&](const char* what, std::uint64_t was, std::uint64_t is,
                         std::uint64_t allowed) {
    if (is > was + allowed) {
      grown.push_back(std::string(what) + " grew from " + std::to_string(was) + " to " +
                      std::to_string(is) + ", by more than " + std::to_string(allowed));
    }
  };
  judge("bytes in use", before.heap_nbytes, after.heap_nbytes, mebibyte);
  judge("bytes resident", before.resident_nbytes, after.resident_nbytes, 16 * mebibyte);
  judge("mappings", before.mappings, after.mappings, mappings_of_arenas);
  judge("open files", before.files, after.files, 0);
  judge("threads", before.threads, after.threads, 0);
  return grown;
}

}  // namespace byre::stress
