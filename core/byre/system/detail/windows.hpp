// SPDX-License-Identifier: BSL-1.0
/// Functions that the sources of Windows share. No other file includes this header, because
/// <windows.h> defines macros.
#pragma once

#include <byre/config.hpp>

#define WIN32_LEAN_AND_MEAN
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdlib>
#include <memory>

namespace byre::inline BYRE_ABI::system {

/// Sets errno to the meaning of GetLastError(), so that last_error() knows one kind of number.
void set_errno() noexcept;

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using WideName = std::unique_ptr<wchar_t, FreeMemory>;

/// Converts a name from UTF-8. Null after a failure, with errno.
WideName wide_name(const char* name) noexcept;

/// The open file with the number of the C library.
HANDLE handle_of(int number) noexcept;

}  // namespace byre::inline BYRE_ABI::system
