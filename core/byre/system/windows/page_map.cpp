// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/page_map.hpp>
#include <byre/system/detail/windows.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::system {

namespace {

bool is_private(const void* address) noexcept {
  ::MEMORY_BASIC_INFORMATION region{};
  return ::VirtualQuery(address, &region, sizeof region) != 0 && region.Protect == PAGE_READWRITE;
}

/// Writes a page of a view with copy-on-write, and returns whether the system reports the write.
/// Windows does, by the protection of the page. Wine 8 does not.
bool reports_writes() noexcept {
  constexpr ::DWORD nbytes = 4096;
  const HANDLE section =
      ::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, nbytes, nullptr);
  void* const view =
      section == nullptr ? nullptr : ::MapViewOfFile(section, FILE_MAP_COPY, 0, 0, 0);
  bool does = false;
  if (view != nullptr && !is_private(view)) {
    *static_cast<std::byte*>(view) = std::byte{1};
    does = is_private(view);
  }
  if (view != nullptr) {
    ::UnmapViewOfFile(view);
  }
  if (section != nullptr) {
    ::CloseHandle(section);
  }
  return does;
}

}  // namespace

PageMap::PageMap() noexcept = default;

/// A page of a view with copy-on-write has another protection after its first write.
bool PageMap::for_each_private_run(const std::byte* begin, std::size_t nbytes, Visit visit,
                                   void* context) noexcept {
  static const bool is_reported = reports_writes();
  if (!is_reported) {
    return false;
  }
  const std::byte* const end = begin + nbytes;
  for (const std::byte* at = begin; at < end;) {
    ::MEMORY_BASIC_INFORMATION region{};
    if (::VirtualQuery(at, &region, sizeof region) == 0 || region.Type != MEM_MAPPED) {
      return false;
    }
    const auto* const region_end =
        static_cast<const std::byte*>(region.BaseAddress) + region.RegionSize;
    const std::byte* const run_end = std::min(region_end, end);
    if (region.Protect == PAGE_READWRITE && !visit(context, static_cast<std::size_t>(at - begin),
                                                   static_cast<std::size_t>(run_end - at))) {
      return true;
    }
    at = run_end;
  }
  return true;
}

}  // namespace byre::inline BYRE_ABI::system
