// SPDX-License-Identifier: BSL-1.0
/// Page guards: pages that are write-protected while lazy clones share their data, and the handler
/// of SIGSEGV that reports a write to them. Exists only in checked builds on Linux.
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

namespace byre::inline BYRE_ABI::detail {

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

/// Reports a write to `data` while the data was shared, and ends the program. `address` is the byte
/// that was written. If `address` is null, checksums that differed at `detected` revealed the
/// write. Async-signal-safe.
[[noreturn, gnu::cold]] void fail_stale_write(const GuardedData& data, const void* address,
                                              const SavedCallSite& detected) noexcept;

struct PageGuard;

/// Installs the signal handler at the first call. Requires that the caller holds no lock. Returns
/// false if the handler cannot be installed; the caller must not call guard() then.
bool may_guard_pages() noexcept;

// The functions below require external synchronization: only one thread at a time may be in any of
// them.

/// Write-protects the pages of `data`, which must contain no other data. Returns null if the system
/// refuses, if all 4096 slots of the table are in use, or if a fork could not map the pages in this
/// process.
PageGuard* guard(const GuardedData& data) noexcept;
/// Makes the pages writable. If the system refuses, the next guard() and the first write to the
/// pages retry.
void unguard(PageGuard& guard) noexcept;
/// Cancels the retries for pages in the range, which the caller is about to unmap.
void forget_unmapped(std::byte* begin, std::size_t nbytes) noexcept;
/// Write-protects all guarded pages again, because a fork may have mapped new pages in their place.
void protect_again() noexcept;

}  // namespace byre::inline BYRE_ABI::detail

#endif
