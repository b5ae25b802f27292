// SPDX-License-Identifier: BSL-1.0
/// The error of the last call of the system, its text, and a guard that preserves it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <cerrno>
#include <system_error>

namespace byre::inline BYRE_ABI::system {

/// Why the last function of the system that failed in this thread did so. Compare it with constants
/// of std::errc, because numbers of errors differ between systems. Thread-safe.
std::error_code last_error() noexcept;

/// The system's text for an error. Allocates nothing. Thread-safe.
Text text_of(std::error_code error) noexcept;

/// Preserves errno, and the system's own last error, from its construction to its destruction.
class KeptError {
 public:
  KeptError() noexcept;
  ~KeptError();
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  const int errno_ = errno;
  [[maybe_unused]] const int error_;  // GetLastError() on Windows
};

}  // namespace byre::inline BYRE_ABI::system
