// SPDX-License-Identifier: BSL-1.0
/// Suppression of known violations (report.hpp), by a scope of a thread or by a file of call sites.
/// The summary counts suppressed violations.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <filesystem>

namespace byre::inline BYRE_ABI::shadow {

/// Violations by accesses on this thread are neither reported nor thrown while the scope lives.
/// Scopes nest; each ends on the thread on which it began. Wait-free.
class [[nodiscard]] BYRE_API ScopedSuppression {
 public:
  ScopedSuppression() noexcept;
  ~ScopedSuppression();
  ScopedSuppression(const ScopedSuppression&) = delete;
  ScopedSuppression& operator=(const ScopedSuppression&) = delete;
};

/// Suppresses, from now on and on all threads, all violations with a call site (reshape, write or
/// access) that is listed in this file, in addition to the files of earlier calls. The file has one
/// entry per line, `folder/file.cpp` or `folder/file.cpp:12`. An entry is a file's name, or its end
/// from a `/` on, and contains no blanks. `#` begins a comment at the start of a line or after a
/// blank. If BYRE_RESHAPE_SUPPRESSIONS in the environment is a path, that file is read when the
/// first reshape is tracked.
///
/// Thread-safe; takes a lock. Throws FileError, with file and line, if the file cannot be read or a
/// line is not an entry, or OutOfMemory. After an error, nothing of the file is suppressed.
BYRE_API void suppress_sites(const std::filesystem::path& path);

}  // namespace byre::inline BYRE_ABI::shadow
