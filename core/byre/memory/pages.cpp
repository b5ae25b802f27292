// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/pages.hpp>
#include <byre/sync/immortal.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

#if defined(__unix__) || defined(__APPLE__)
#define BYRE_HAS_MMAP 1
#include <sys/mman.h>
#include <unistd.h>
#else
#define BYRE_HAS_MMAP 0
#endif

namespace byre::inline v0 {
namespace {

#if BYRE_HAS_MMAP

class SystemPages final : public PageSource {
 public:
  std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept override {
    constexpr std::size_t least_page_nbytes = 4096;  // mmap aligns to that at least
    const std::size_t slack = alignment > least_page_nbytes ? alignment : 0;
    void* mapping = ::mmap(nullptr, lead + nbytes + slack, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
      return nullptr;
    }
    auto* begin = static_cast<std::byte*>(mapping);
    std::byte* address = begin + lead;
    if (slack != 0) {
      const auto past = reinterpret_cast<std::uintptr_t>(address) % alignment;
      const std::size_t before = past == 0 ? 0 : alignment - past;
      address += before;
      unmap_if_any(begin, before);
      unmap_if_any(address + nbytes, slack - before);
    }
    return address;
  }

  void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept override {
    ::munmap(address - lead, lead + nbytes);
  }

 private:
  static void unmap_if_any(std::byte* address, std::size_t nbytes) noexcept {
    if (nbytes != 0) {
      ::munmap(address, nbytes);
    }
  }
};

#else

class SystemPages final : public PageSource {
 public:
  std::byte* map(std::size_t lead, std::size_t nbytes, std::size_t alignment) noexcept override {
    const std::size_t room = room_before(lead, alignment);
    auto* begin =
        static_cast<std::byte*>(std::aligned_alloc(alignment, room + round_up(nbytes, alignment)));
    return begin == nullptr ? nullptr : begin + room;
  }

  void unmap(std::byte* address, std::size_t lead, std::size_t nbytes) noexcept override {
    const std::size_t alignment = nbytes >= huge_page_nbytes ? huge_page_nbytes : page_nbytes;
    std::free(address - room_before(lead, alignment));
  }

 private:
  static std::size_t round_up(std::size_t nbytes, std::size_t alignment) noexcept {
    return (nbytes + alignment - 1) / alignment * alignment;
  }
  static std::size_t room_before(std::size_t lead, std::size_t alignment) noexcept {
    return round_up(lead, alignment);
  }
};

#endif

/// The number in a file of one line, or `otherwise`.
std::size_t read_number(const char* path, std::size_t otherwise) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) {
    return otherwise;
  }
  std::size_t number = 0;
  const bool read = std::fscanf(file, "%zu", &number) == 1;
  std::fclose(file);
  return read ? number : otherwise;
}

}  // namespace

PageSource& system_pages() noexcept {
  return sync::immortal<SystemPages>();
}

bool advise_huge([[maybe_unused]] std::byte* address,
                 [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(MADV_HUGEPAGE)
  return nbytes != 0 && ::madvise(address, nbytes, MADV_HUGEPAGE) == 0;
#else
  return false;
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
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  std::size_t physical = std::size_t{4} << 30;
#if BYRE_HAS_MMAP && defined(_SC_PHYS_PAGES)
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long nbytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && nbytes > 0) {
    physical = static_cast<std::size_t>(pages) * static_cast<std::size_t>(nbytes);
  }
#endif
  const std::size_t group = read_number("/sys/fs/cgroup/memory.max", unlimited);
  return std::min(physical, group);
}

}  // namespace byre::inline v0
