// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/posix.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace byre::inline BYRE_ABI::system {
namespace {

/// The lines of a small system file, truncated to 8191 bytes; empty if the file is missing.
class Lines {
 public:
  explicit Lines(const char* path) noexcept {
    const Descriptor file = open_to_read(path);
    std::size_t length = 0;
    std::ptrdiff_t got = 0;
    do {
      length += static_cast<std::size_t>(got);
      got = read_at(file, text_ + length, sizeof text_ - 1 - length, length);
    } while (got > 0);
    text_[length] = '\0';
  }

  /// The next line, or null.
  const char* next_line() noexcept {
    char* const line = next_;
    char* const end = std::strchr(line, '\n');
    next_ = end == nullptr ? line + std::strlen(line) : end + 1;
    if (end != nullptr) {
      *end = '\0';
    }
    return next_ == line ? nullptr : line;
  }

 private:
  char text_[8192] = {};
  char* next_ = text_;
};

/// The number in a file of one line. "max" and a missing file mean no limit.
std::uint64_t limit_in(const char* path) noexcept {
  Lines file(path);
  const char* line = file.next_line();
  unsigned long long limit = 0;
  return line != nullptr && std::sscanf(line, "%llu", &limit) == 1
             ? limit
             : std::numeric_limits<std::uint64_t>::max();
}

/// The smallest limit of this process's control group and its ancestors (version 2), or of the root
/// control group that a container sees (version 1).
std::uint64_t control_group_limit() noexcept {
  std::uint64_t limit = std::min(limit_in("/sys/fs/cgroup/memory.max"),
                                 limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  Lines groups("/proc/self/cgroup");
  while (const char* line = groups.next_line()) {
    char group[512];
    if (std::sscanf(line, "0::%511s", group) != 1) {
      continue;
    }
    for (char* end; (end = std::strrchr(group, '/')) != nullptr; *end = '\0') {
      limit =
          std::min(limit, limit_in(format_text("/sys/fs/cgroup%s/memory.max", group).chars.data()));
    }
  }
  return limit;
}

}  // namespace

bool discard(void* begin, std::size_t nbytes) noexcept {
  return ::madvise(begin, nbytes, MADV_DONTNEED) == 0;
}

bool populate([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t nbytes) noexcept {
#if !defined(BYRE_WITHOUT_POPULATE)
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it
  const std::uintptr_t page = actual_page_nbytes();
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(data) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(data) + nbytes;
  while (::madvise(reinterpret_cast<void*>(begin), end - begin, populate_write) != 0) {
    if (errno != EINTR && errno != EAGAIN) {
      return errno != ENOMEM && errno != EFAULT;
    }
  }
#endif
  return true;
}

bool grants_huge_pages() noexcept {
#if defined(BYRE_WITHOUT_HUGE_PAGES)
  return false;
#else
  Lines file("/sys/kernel/mm/transparent_hugepage/enabled");
  const char* const line = file.next_line();
  return line != nullptr && std::strstr(line, "madvise") != nullptr &&
         std::strstr(line, "[never]") == nullptr;
#endif
}

void advise_huge([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t nbytes) noexcept {
#if !defined(BYRE_WITHOUT_HUGE_PAGES)
  if (nbytes != 0) {
    ::madvise(begin, nbytes, MADV_HUGEPAGE);
  }
#endif
}

void advise_reclaimable(std::byte* begin, std::size_t nbytes) noexcept {
  if (nbytes != 0) {
    ::madvise(begin, nbytes, MADV_FREE);
  }
}

std::uint64_t usable_memory_nbytes() noexcept {
  return std::min(physical_nbytes(), control_group_limit());
}

}  // namespace byre::inline BYRE_ABI::system
