// SPDX-License-Identifier: BSL-1.0
/// Pages that are write-protected while lazy clones share what lies in them, and the handler of SIGSEGV
/// that says of a write to them whose it was. Of checked builds alone; Linux.
///
///   - guard(data): finds a slot of a table that a handler may read, fills it, protects the pages.
///   - A write to them faults. The handler finds the slot by the address and reports; what is in no
///     slot goes to the handler that was installed before.
///   - unguard(slot): makes the pages writable and empties the slot.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

#include <cstddef>
#include <cstdint>

#if BYRE_CHECKS

namespace byre::inline v0::detail {

/// A call site with its own text: the library that the call was made from may be unloaded before the
/// report.
struct BYRE_API SavedCallSite {
  constexpr SavedCallSite() noexcept = default;
  explicit SavedCallSite(CallSite site) noexcept;

  char file[92]{};  // the end of its name
  std::uint32_t line = 0;
};

/// What a report names.
struct GuardedData {
  std::byte* begin;
  std::size_t nbytes;
  std::size_t capacity;  ///< what is protected
  SavedCallSite taken;   ///< where the last pointer to write was, if one was
  SavedCallSite cloned;  ///< the first lazy clone since
};

/// Ends the program: `data` was written while it was shared, at `address`, or, if that is null, as a
/// comparison at `found` shows. Async-signal-safe.
[[noreturn, gnu::cold]] void fail_stale_write(const GuardedData& data, const void* address,
                                              const SavedCallSite& found) noexcept;

struct PageGuard;

/// Installs the handler, once for all. False if it may not be: then nothing can be guarded. Under no lock.
bool may_guard_pages() noexcept;

/// The next four by one thread at a time.

/// Write-protects the data's pages, which are its own. Null if the system refuses, or too much is guarded
/// already.
PageGuard* guard(const GuardedData& data) noexcept;
/// Makes the pages writable. If the system refuses, the next guard() and the first write try again.
void unguard(PageGuard& guard) noexcept;
/// Tries no more to make pages writable that are about to be unmapped.
void forget_unmapped(std::byte* begin, std::size_t nbytes) noexcept;
/// Write-protects again all that is guarded.
void protect_again() noexcept;

}  // namespace byre::inline v0::detail

#endif
