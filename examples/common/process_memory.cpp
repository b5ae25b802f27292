// SPDX-License-Identifier: BSL-1.0
#include "process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace examples {
namespace {

/// Of a line such as "VmHWM:   1234 kB".
std::optional<std::uint64_t> read_figure(const char* file, const std::string& key) {
  std::ifstream lines(file);
  std::string word;
  while (lines >> word) {
    std::uint64_t kibibytes = 0;
    if (word == key + ":" && lines >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> read_status(const std::string& key) {
  return read_figure("/proc/self/status", key);
}

bool start_counting() {
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  const auto peak = read_status("VmHWM");
  const auto now = read_status("VmRSS");
  // A system that ignores the request still knows an older peak.
  constexpr std::uint64_t slack = std::uint64_t{1} << 20;
  return peak && now && *peak <= *now + slack;
}

}  // namespace

void release_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

std::optional<ResidentMemory> resident_memory() {
  // Counted page by page: what /proc/self/status has may be some pages behind.
  const auto all = read_figure("/proc/self/smaps_rollup", "Rss");
  const auto anonymous = read_figure("/proc/self/smaps_rollup", "Anonymous");
  return all && anonymous ? std::optional(ResidentMemory{*all, *anonymous}) : std::nullopt;
}

std::optional<std::int64_t> resident_nbytes(const char* key) {
  const auto found = read_figure("/proc/self/smaps_rollup", key);
  return found ? std::optional(static_cast<std::int64_t>(*found)) : std::nullopt;
}

std::size_t system_page_nbytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

OwnMemory::OwnMemory() {
  // "7f00-7f40 rw-p ...", then lines such as "Anonymous:   12 kB".
  std::ifstream lines("/proc/self/smaps");
  std::size_t* nbytes = nullptr;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::uintptr_t begin = 0;
    std::size_t kibibytes = 0;
    words >> key;
    if (!key.ends_with(':')) {
      std::istringstream(key) >> std::hex >> begin;
      nbytes = &nbytes_[begin];
    } else if (nbytes != nullptr && (key == "Anonymous:" || key == "Swap:") && words >> kibibytes) {
      *nbytes += kibibytes * 1024;
    }
  }
}

std::optional<std::size_t> OwnMemory::of_mapping_at(const void* begin) const {
  const auto found = nbytes_.find(reinterpret_cast<std::uintptr_t>(begin));
  return found == nbytes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> page_faults_of_this_thread() {
#ifdef RUSAGE_THREAD
  rusage used{};
  if (getrusage(RUSAGE_THREAD, &used) == 0) {
    return static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt);
  }
#endif
  return std::nullopt;
}

std::optional<std::uint64_t> available_memory_nbytes() {
  return read_figure("/proc/meminfo", "MemAvailable");
}

PeakMemory::PeakMemory() {
  release_free_memory();
  counting_ = start_counting();
}

std::optional<std::uint64_t> PeakMemory::nbytes() const {
  return counting_ ? read_status("VmHWM") : std::nullopt;
}

}  // namespace examples
