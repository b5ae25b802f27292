// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/sections.hpp>
#include <byre/system/detail/windows.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::system {

Section::Section(std::size_t nbytes) noexcept
    : handle_(::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE,
                                   static_cast<::DWORD>(std::uint64_t{nbytes} >> 32U),
                                   static_cast<::DWORD>(nbytes), nullptr)) {
  if (handle_ == nullptr) {
    set_errno();
  }
}

Section::~Section() {
  if (handle_ != nullptr) {
    ::CloseHandle(handle_);
  }
}

std::byte* Section::map(Writes writes) const noexcept {
  void* const mapping =
      ::MapViewOfFile(handle_, writes == Writes::to_file ? FILE_MAP_WRITE : FILE_MAP_COPY, 0, 0, 0);
  if (mapping == nullptr) {
    set_errno();
  }
  return static_cast<std::byte*>(mapping);
}

}  // namespace byre::inline BYRE_ABI::system
