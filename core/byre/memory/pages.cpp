// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/memory/detail/mappings.hpp>
#include <byre/memory/pages.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/system/detail/descriptor.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>

namespace byre::inline BYRE_ABI {
namespace {

class SystemPages final : public PageSource {
 public:
  std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept override {
    return detail::map_aligned(lead, nbytes, alignment, PROT_READ | PROT_WRITE);
  }

  void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept override {
    detail::unmap(address - lead, lead + nbytes);
  }
};

/// The lines of a small system file, truncated to 8191 bytes; empty if the file is missing.
class Lines {
 public:
  explicit Lines(const char* path) noexcept {
    const detail::Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
    std::size_t length = 0;
    ::ssize_t got = 0;
    do {
      length += static_cast<std::size_t>(got);
      got = ::read(file.number(), text_ + length, sizeof text_ - 1 - length);
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

bool has_word(const char* path, const char* word) noexcept {
  Lines file(path);
  const char* line = file.next_line();
  return line != nullptr && std::strstr(line, word) != nullptr;
}

#if defined(MADV_HUGEPAGE)
struct HugePages {
  const bool are_granted = has_word("/sys/kernel/mm/transparent_hugepage/enabled", "madvise") &&
                           !has_word("/sys/kernel/mm/transparent_hugepage/enabled", "[never]");
};
#endif

/// The number in a file of one line. "max" and a missing file mean no limit.
std::size_t limit_in(const char* path) noexcept {
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  Lines file(path);
  const char* line = file.next_line();
  unsigned long long limit = 0;
  return line != nullptr && std::sscanf(line, "%llu", &limit) == 1 && limit < unlimited
             ? static_cast<std::size_t>(limit)
             : unlimited;
}

/// The smallest limit of this process's control group and its ancestors (version 2), or of the root
/// control group that a container sees (version 1).
std::size_t control_group_limit() noexcept {
  std::size_t limit = std::min(limit_in("/sys/fs/cgroup/memory.max"),
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

std::uint64_t PageSource::seconds() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // a few nanoseconds
  return static_cast<std::uint64_t>(now.tv_sec);
#else
  using std::chrono::steady_clock;
  const auto now = steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(now).count());
#endif
}

PageSource& system_pages() noexcept {
  return sync::no_destructor<SystemPages>();
}

bool grants_huge_pages() noexcept {
#if defined(MADV_HUGEPAGE)
  return sync::no_destructor<HugePages>().are_granted;
#else
  return false;
#endif
}

void advise_huge([[maybe_unused]] std::byte* address,
                 [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(MADV_HUGEPAGE)
  if (nbytes != 0) {
    ::madvise(address, nbytes, MADV_HUGEPAGE);
  }
#endif
}

void populate([[maybe_unused]] std::byte* address, [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(__linux__)
  constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14; older headers lack it
  ::madvise(address, nbytes, populate_write);
#endif
}

void advise_reclaimable([[maybe_unused]] std::byte* address,
                        [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(MADV_FREE)
  if (nbytes != 0) {
    ::madvise(address, nbytes, MADV_FREE);
  }
#endif
}

std::size_t usable_memory_nbytes() noexcept {
  // 64 bits: a machine may have more memory than a process can address.
  std::uint64_t physical = std::uint64_t{4} << 30;
#if defined(_SC_PHYS_PAGES)
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long nbytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && nbytes > 0) {
    physical = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(nbytes);
  }
#endif
  return static_cast<std::size_t>(std::min<std::uint64_t>(physical, control_group_limit()));
}

}  // namespace byre::inline BYRE_ABI
