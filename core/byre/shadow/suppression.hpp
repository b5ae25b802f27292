// SPDX-License-Identifier: BSL-1.0
/// Suppression: violations that are known and not to be reported. They are counted.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <filesystem>

namespace byre::inline v0::shadow {

/// While it lives, violations by accesses on this thread are neither reported nor thrown. Scopes nest;
/// each ends on the thread it began on.
class [[nodiscard]] BYRE_API ScopedSuppression {
 public:
  ScopedSuppression() noexcept;
  ~ScopedSuppression();
  ScopedSuppression(const ScopedSuppression&) = delete;
  ScopedSuppression& operator=(const ScopedSuppression&) = delete;
};

/// From now on suppresses, on all threads, the violations one of whose three call sites is in this
/// file, in addition to files given before. One entry a line, `folder/file.cpp` or
/// `folder/file.cpp:12`. An entry is a file's name or the end of it from a `/` on, and has no blanks.
/// `#` begins a comment at the start of a line or after a blank. BYRE_RESHAPE_SUPPRESSIONS=path in the
/// environment names one, which is read when the first reshape is tracked.
///
/// Thread-safe. Throws FileError, naming file and line, if the file cannot be read or a line is
/// neither; OutOfMemory. Then nothing of the file is suppressed.
BYRE_API void suppress_sites(const std::filesystem::path& path);

}  // namespace byre::inline v0::shadow
