// SPDX-License-Identifier: BSL-1.0
/// Page guards: pages that are write-protected while lazy clones share their data, and the handler
/// of SIGSEGV that reports a write to them. Only in checked builds; only on Linux.
///
///   - guard(data) fills a slot of a table that the signal handler reads, and write-protects the
///     pages.
///   - A write to the pages faults. The handler finds the slot by the address, reports the write,
///     and ends the program. It forwards every other fault to the handler that was installed
///     before.
///   - unguard(slot) makes the pages writable and empties the slot.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstddef>
#include <cstdint>

#if BYRE_CHECKS

namespace byre::inline v0::detail {

/// A call site with a copy of the file name, because the library that made the call may be unloaded
/// before the report.
struct BYRE_API SavedCallSite {
  constexpr SavedCallSite() noexcept = default;
  explicit SavedCallSite(CallSite site) noexcept;

  char file[92]{};  // the last characters of the name
  std::uint32_t line = 0;
};

/// Guarded data, and the call sites that a report names.
struct GuardedData {
  std::byte* begin;
  std::size_t nbytes;
  std::size_t capacity;  ///< the number of protected bytes
  SavedCallSite taken;   ///< the last call that returned a pointer for writing; line 0 if none
  SavedCallSite cloned;  ///< the first lazy clone after that call
};

/// Reports a write to `data` while it was shared, and ends the program. The write was to `address`;
/// if that is null, a comparison of checksums at `detected` has shown it. Async-signal-safe.
[[noreturn, gnu::cold]] void fail_stale_write(const GuardedData& data, const void* address,
                                              const SavedCallSite& detected) noexcept;

struct PageGuard;

/// Installs the signal handler at the first call. Returns false if that is impossible; pages cannot
/// be guarded then. Requires that the caller holds no lock.
bool may_guard_pages() noexcept;

// The functions below require external synchronization: only one thread at a time may be in any of
// them.

/// Write-protects the pages of `data`, which must contain no other data. Returns null if the system
/// refuses, or if all 4096 slots of the table are in use.
PageGuard* guard(const GuardedData& data) noexcept;
/// Makes the pages writable. If the system refuses, the next guard() and the first write to the
/// pages retry.
void unguard(PageGuard& guard) noexcept;
/// Cancels such retries for pages in the range, which is about to be unmapped.
void forget_unmapped(std::byte* begin, std::size_t nbytes) noexcept;
/// Write-protects all guarded pages again. A fork may have mapped them anew.
void protect_again() noexcept;

}  // namespace byre::inline v0::detail

#endif
