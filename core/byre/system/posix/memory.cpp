// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/files.hpp>
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/posix.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace byre::inline BYRE_ABI::system {

int protection_of(Access access) noexcept {
  return access == Access::none   ? PROT_NONE
         : access == Access::read ? PROT_READ
                                  : PROT_READ | PROT_WRITE;
}

std::size_t actual_page_nbytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

AlignedMapping map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                           Access access) noexcept {
  constexpr std::size_t least_page_nbytes = 4096;  // the minimum alignment of mmap()
  const std::size_t slack = alignment > least_page_nbytes ? alignment : 0;
  const std::size_t mapped_nbytes = lead + nbytes + slack;
  if (mapped_nbytes < nbytes) {
    errno = ENOMEM;
    return {};
  }
  void* const mapping =
      ::mmap(nullptr, mapped_nbytes, protection_of(access), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return {};
  }
  auto* const begin = static_cast<std::byte*>(mapping);
  std::byte* data = begin + lead;
  if (slack != 0) {
    data += -reinterpret_cast<std::uintptr_t>(data) % alignment;
  }
  return {begin, mapped_nbytes, data};
}

bool unmap(void* begin, std::size_t nbytes) noexcept {
  return ::munmap(begin, nbytes) == 0;
}

bool protect(void* begin, std::size_t nbytes, Access access) noexcept {
  return ::mprotect(begin, nbytes, protection_of(access)) == 0;
}

std::byte* map_privately(const Descriptor& file, std::size_t nbytes, Access access) noexcept {
#if defined(MAP_NORESERVE)  // POSIX does not define this name, but Linux and macOS do
  const int flags = MAP_PRIVATE | (access == Access::read_write ? MAP_NORESERVE : 0);
#else
  const int flags = MAP_PRIVATE;
#endif
  void* const mapping = ::mmap(nullptr, nbytes, protection_of(access), flags, file.number(), 0);
  if (mapping != MAP_FAILED) {
    return static_cast<std::byte*>(mapping);
  }
  errno = errno == EAGAIN ? ENOMEM : errno;  // EAGAIN: the limit of locked memory is reached
  return nullptr;
}

void unlock(void* begin, std::size_t nbytes) noexcept {
  ::munlock(begin, nbytes);
}

std::uint64_t physical_nbytes() noexcept {
  std::uint64_t physical = std::uint64_t{4} << 30;
#if defined(_SC_PHYS_PAGES)  // POSIX does not define this name, but most systems do
  if (const long pages = ::sysconf(_SC_PHYS_PAGES); pages > 0) {
    physical = static_cast<std::uint64_t>(pages) * actual_page_nbytes();
  }
#endif
  return physical;
}

}  // namespace byre::inline BYRE_ABI::system
