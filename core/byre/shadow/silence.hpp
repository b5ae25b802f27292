// SPDX-License-Identifier: BSL-1.0
/// Silence: violations that are known, and that nobody is to be told of. They are counted.
#pragma once

#include <byre/shadow/place.hpp>

#include <filesystem>

namespace byre::inline v0::shadow {

/// While it lives, violations of accesses on this thread are neither reported nor thrown. Scopes nest;
/// each ends on the thread it began on.
class [[nodiscard]] SilenceScope {
 public:
  SilenceScope() noexcept;
  ~SilenceScope();
  SilenceScope(const SilenceScope&) = delete;
  SilenceScope& operator=(const SilenceScope&) = delete;
};

/// From now on silences, on all threads, the violations one of whose three places is in this list, in
/// addition to lists given before. One entry a line, `folder/file.cpp` or `folder/file.cpp:12`, which
/// is the end of a file's name from a `/` on, or all of it, and has no blanks; `#` begins a comment at
/// the start of a line or after a blank. BYRE_RESHAPE_SILENCE=path in the environment gives one when
/// the first reshape is watched.
///
/// Thread-safe. Throws FileError, naming file and line, if the file cannot be read or a line is
/// neither; std::bad_alloc. Then nothing of the list is silenced.
void silence_sites(const std::filesystem::path& path);

namespace detail {
/// Whether this thread is in a SilenceScope. Wait-free.
bool thread_is_silent() noexcept;
/// Whether the place is in a list. Locks if there is one.
bool is_listed(const Place& place) noexcept;
}  // namespace detail
}  // namespace byre::inline v0::shadow
