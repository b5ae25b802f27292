// SPDX-License-Identifier: BSL-1.0
/// Copy sinks: callbacks that byre calls for each copy, with its size, its cause and its call site.
/// They show why a program copies.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

namespace byre::inline BYRE_ABI::stats {

enum class CopyCause : std::uint8_t {
  shared,     ///< a write to data that has other owners
  pending,    ///< a write by the last owner that must not wait for pending copies (Wait::never)
  read_only,  ///< a write to data that may not be written in place, such as a mapped file
  /// a lazy clone of borrowed memory, which must not outlive its lender, or of aliased memory,
  /// which other code may write at any time
  borrowed,
  pinned,  ///< a lazy clone of a pinned storage, which a library may write through its pointer
  /// a writable clone: of all bytes if the data is not paged; otherwise only of the pages that were
  /// written in the source since its last clone
  writable,
  resized,  ///< a resize that needed a new block
  /// an export to another process: of data outside of pages, or of the pages that were written in
  /// an overlay
  exported,
};

/// The name of the enumerator, such as "shared"; "?" if `cause` is out of range.
BYRE_API const char* to_string(CopyCause cause) noexcept;

/// A copy that was made.
struct CopyEvent {
  std::size_t nbytes;
  CopyCause cause;
  CallSite site;
};

using CopySink = std::function<void(const CopyEvent&)>;

/// Installs a copy sink; the destructor uninstalls it. Any number of sinks may be installed.
///
/// byre calls a sink on the thread that copies, possibly on several threads at once, after the copy
/// is complete: the writer has its copy, is no longer an owner of the source, and holds no lock of
/// the copy or the source. So a sink may write the other owners of the source, and may call
/// Storage::mutable_data_in_parallel() for the storage of a parallel loop. It must not access the
/// written buffer or storage in any other way, because the write to it is still in progress.
///
/// byre does not call sinks for copies that a sink makes. If a sink throws, byre prints a warning.
/// Installing and uninstalling wait for running calls of sinks; inside a sink they end the program.
/// In a build without stats (Meson option), sinks are never called. Thread-safe.
class [[nodiscard]] BYRE_API InstalledSink {
 public:
  /// Throws OutOfMemory; then no sink is installed.
  explicit InstalledSink(CopySink sink);
  ~InstalledSink();
  InstalledSink(const InstalledSink&) = delete;
  InstalledSink& operator=(const InstalledSink&) = delete;

 private:
  std::list<CopySink> node_;
  std::list<CopySink>::iterator place_;
};

namespace detail {

BYRE_API extern constinit RelaxedFlag sink_flag;

/// Calls all sinks.
[[gnu::cold]] BYRE_API void call_sinks(const CopyEvent& event) noexcept;

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::stats
