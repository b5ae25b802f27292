// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/memory.hpp>
#include <byre/system/detail/windows.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::system {
namespace {

::DWORD protection_of(Access access) noexcept {
  return access == Access::none   ? PAGE_NOACCESS
         : access == Access::read ? PAGE_READONLY
                                  : PAGE_READWRITE;
}

::SYSTEM_INFO system_information() noexcept {
  ::SYSTEM_INFO information{};
  ::GetSystemInfo(&information);
  return information;
}

::MEMORY_BASIC_INFORMATION region_of(const void* address) noexcept {
  ::MEMORY_BASIC_INFORMATION region{};
  ::VirtualQuery(address, &region, sizeof region);
  return region;
}

}  // namespace

std::size_t actual_page_nbytes() noexcept {
  return system_information().dwPageSize;
}

/// Reserves more addresses than necessary, because the system aligns a reservation to 64 KiB only,
/// and gives memory only to the requested bytes.
AlignedMapping map_aligned(std::size_t lead, std::size_t nbytes, std::size_t alignment,
                           Access access) noexcept {
  const std::size_t needed = lead + nbytes;
  if (needed < nbytes || needed + alignment < needed) {
    ::SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    set_errno();
    return {};
  }
  auto* const reserved = static_cast<std::byte*>(
      ::VirtualAlloc(nullptr, needed + alignment, MEM_RESERVE, protection_of(access)));
  if (reserved == nullptr) {
    set_errno();
    return {};
  }
  std::byte* data = reserved + lead;
  data += -reinterpret_cast<std::uintptr_t>(data) % alignment;
  if (access != Access::none &&
      ::VirtualAlloc(data - lead, needed, MEM_COMMIT, protection_of(access)) == nullptr) {
    set_errno();
    ::VirtualFree(reserved, 0, MEM_RELEASE);
    return {};
  }
  return {data - lead, needed, data};
}

/// Unmaps the whole mapping, which map_aligned() returned without other bytes.
bool unmap(void* begin, std::size_t) noexcept {
  const auto region = region_of(begin);
  const bool is_unmapped = region.Type == MEM_MAPPED
                               ? ::UnmapViewOfFile(region.AllocationBase) != 0
                               : ::VirtualFree(region.AllocationBase, 0, MEM_RELEASE) != 0;
  if (!is_unmapped) {
    set_errno();
  }
  return is_unmapped;
}

bool protect(void* begin, std::size_t nbytes, Access access) noexcept {
  ::DWORD before = 0;
  return ::VirtualProtect(begin, nbytes, protection_of(access), &before) != 0;
}

bool discard(void* begin, std::size_t nbytes) noexcept {
  return region_of(begin).Type == MEM_PRIVATE && ::VirtualFree(begin, nbytes, MEM_DECOMMIT) != 0 &&
         ::VirtualAlloc(begin, nbytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void unlock(void* begin, std::size_t nbytes) noexcept {
  ::VirtualUnlock(begin, nbytes);
}

bool populate(std::byte*, std::size_t) noexcept {
  return true;
}

bool grants_huge_pages() noexcept {
  return false;
}

void advise_huge(std::byte*, std::size_t) noexcept {}

void advise_reclaimable(std::byte*, std::size_t) noexcept {}

std::uint64_t usable_memory_nbytes() noexcept {
  ::MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return ::GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : std::uint64_t{4} << 30;
}

}  // namespace byre::inline BYRE_ABI::system
