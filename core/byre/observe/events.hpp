// SPDX-License-Identifier: BSL-1.0
/// Copy sinks: whoever wants to know why copies happen is told of each one, with its size, cause
/// and place.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

namespace byre::inline v0::stats {

enum class CopyCause : std::uint8_t {
  shared,     ///< a write to data that other owners share
  pending,    ///< a write by the last owner that would not wait for pending copies
  read_only,  ///< a write to data that may not be written in place: a mapped file
  /// a lazy clone of borrowed memory, which must not outlive its lender, or of aliased memory
  borrowed,
  pinned,  ///< a lazy clone of a pinned storage, which may be written by a pointer
  /// a writable clone: of all bytes outside pages, or of the pages that its source wrote since the
  /// last one
  writable,
  resized,  ///< a resize that needed other memory
};

/// "shared", "pending", ...
BYRE_API const char* to_string(CopyCause cause) noexcept;

struct CopyEvent {
  std::size_t nbytes;
  CopyCause cause;
  CallSite site;
};

using CopySink = std::function<void(const CopyEvent&)>;

/// An installed sink; destroying it uninstalls it.
///
/// A sink is called on the copying thread, possibly on several threads at once, after the copy is
/// complete: the writer has its data, the source lost the writer, and no lock of theirs is held. So
/// a sink may write the source's other owners, and ask again for the storage of a parallel loop;
/// any other access to the written buffer or storage meets the write that is under way. Copies that
/// a sink makes itself are not reported. An exception of a sink becomes a warning. Installing and
/// uninstalling wait for calls under way; inside a sink they end the program. Any number may be
/// installed. Without stats (Meson option) they are never called.
class [[nodiscard]] BYRE_API InstalledSink {
 public:
  /// Throws OutOfMemory, having installed nothing.
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

/// Tells the sinks of a copy.
[[gnu::cold]] BYRE_API void call_sinks(const CopyEvent& event) noexcept;

}  // namespace detail
}  // namespace byre::inline v0::stats
