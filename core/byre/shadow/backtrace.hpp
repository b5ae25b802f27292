// SPDX-License-Identifier: BSL-1.0
/// Backtraces of places, for who wants to know how the program came there. Off unless asked for: each
/// new place then costs some ten microseconds, and each access to a tracked storage a lock.
#pragma once

#include <byre/shadow/write_mark.hpp>

namespace byre::inline v0::shadow {

/// From now on, on all threads; until it is called, BYRE_RESHAPE_BACKTRACE in the environment decides:
/// 1 is on. Thread-safe.
void set_backtraces(bool are_kept) noexcept;
/// Thread-safe; wait-free.
bool backtraces_are_kept() noexcept;

/// The backtrace of the first use of a place since backtraces are kept, a frame a line, without
/// byre's own at its inner end; empty if there was none, or no memory for it. It stays. Functions of a
/// program have names if it exports them (-rdynamic). Thread-safe.
const char* backtrace_of(PlaceId id) noexcept;

/// Keeps that of this thread for the place, unless it has one. Thread-safe.
[[gnu::cold]] void keep_backtrace(PlaceId id) noexcept;

}  // namespace byre::inline v0::shadow
