// SPDX-License-Identifier: BSL-1.0
#include "process_memory.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace live_checkpoint {
namespace {

/// A line such as "VmHWM:   1234 kB".
std::optional<std::uint64_t> read_status(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kibibytes = 0;
    if (word == key + ":" && status >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::nullopt;
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

PeakMemory::PeakMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  counting_ = start_counting();
}

std::optional<std::uint64_t> PeakMemory::nbytes() const {
  return counting_ ? read_status("VmHWM") : std::nullopt;
}

}  // namespace live_checkpoint
