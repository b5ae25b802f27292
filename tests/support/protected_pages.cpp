// SPDX-License-Identifier: BSL-1.0
#include "protected_pages.hpp"

#include <new>
#include <stdexcept>

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace byre::test {

void* map_pages(std::size_t nbytes) {
#if defined(_WIN32)
  void* const begin = ::VirtualAlloc(nullptr, nbytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  const bool is_mapped = begin != nullptr;
#else
  void* const begin =
      ::mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_mapped = begin != MAP_FAILED;
#endif
  return is_mapped ? begin : throw std::bad_alloc();
}

void unmap_pages(void* begin, [[maybe_unused]] std::size_t nbytes) noexcept {
#if defined(_WIN32)
  ::VirtualFree(begin, 0, MEM_RELEASE);
#else
  ::munmap(begin, nbytes);
#endif
}

void set_access(void* begin, std::size_t nbytes, bool is_allowed) {
#if defined(_WIN32)
  ::DWORD before = 0;
  const bool is_set =
      ::VirtualProtect(begin, nbytes, is_allowed ? PAGE_READWRITE : PAGE_NOACCESS, &before) != 0;
#else
  const bool is_set =
      ::mprotect(begin, nbytes, is_allowed ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
#endif
  if (!is_set) {
    throw std::runtime_error("cannot change the access to pages");
  }
}

std::size_t mapped_nbytes(std::byte* begin, std::size_t nbytes) noexcept {
#if defined(_WIN32)
  ::SYSTEM_INFO system{};
  ::GetSystemInfo(&system);
  const std::size_t step = system.dwPageSize;
  const auto is_mapped = [](const std::byte* page) {
    ::MEMORY_BASIC_INFORMATION region{};
    return ::VirtualQuery(page, &region, sizeof region) != 0 && region.State == MEM_COMMIT;
  };
#else
  const auto step = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto is_mapped = [step](std::byte* page) {
    unsigned char resident = 0;
    return ::mincore(page, step, &resident) == 0;
  };
#endif
  std::size_t mapped = 0;
  for (std::size_t at = 0; at < nbytes; at += step) {
    mapped += is_mapped(begin + at) ? step : 0;
  }
  return mapped;
}

}  // namespace byre::test
