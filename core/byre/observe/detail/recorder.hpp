// SPDX-License-Identifier: BSL-1.0
/// The recorder keeps what happened, when, where and on which thread, while there is a byre::trace::Recording. Each
/// function takes a lock even if there is none: observer.hpp checks may_record() first. Built only with stats.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/call_sites.hpp>
#include <byre/observe/events.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::stats::detail {

enum class RecordKind : std::uint8_t {
  allocation,  ///< memory of `nbytes` that an allocator gave to data
  release,     ///< the same, given back
  clone,
  copy,   ///< of `data`; `links_to` the last clone
  steal,  ///< by the last owner
  wait,   ///< of the last owner; `links_to` the copy that ended last
  pin,    ///< to write
  pin_to_read,
  unpin,
  overlay,  ///< `data` is one; `part_nbytes` were copied for it; `links_to` the last clone of what it shows
  overlay_end,  ///< of `data`, of which `part_nbytes` were written
  pool_hit,     ///< a block of `nbytes` that was idle in a pool
  pool_miss,    ///< one that came from the system
  pool_put,     ///< one that idles from now on
  pool_return,  ///< one that went back to the system
};

/// A line that cloned data, and how often.
struct ClonedAt {
  SiteId site = 0;
  std::uint32_t count = 0;
};
/// The lines that cloned some data since one owner had it alone: the latest first, and not all if there are many.
using ClonedLines = std::array<ClonedAt, 4>;

/// How many bytes of an overlay were written.
using WrittenNbytes = std::size_t (*)(const void* overlay, std::size_t nbytes) noexcept;

/// The lines that cloned this data, if that was recorded.
BYRE_API ClonedLines lines_that_cloned(const void* data) noexcept;

/// Bytes of data that are alive from now on, or no more. These two count, too.
[[gnu::cold]] BYRE_API void count_allocation(const void* data, std::size_t nbytes) noexcept;
[[gnu::cold]] BYRE_API void count_release(const void* data, std::size_t nbytes) noexcept;
/// `was_alone`: before that, one owner had the data.
[[gnu::cold]] BYRE_API void record_clone(const void* data, std::size_t nbytes, bool was_alone,
                                         CallSite site) noexcept;
[[gnu::cold]] BYRE_API void record_pin(RecordKind kind, const void* data, std::size_t nbytes,
                                       CallSite site) noexcept;
[[gnu::cold]] BYRE_API void record_pool(RecordKind kind, std::size_t nbytes) noexcept;
[[gnu::cold]] BYRE_API void record_overlay_end(const void* data, std::size_t nbytes,
                                               std::size_t written_nbytes) noexcept;
/// What shares its parts: the lines that cloned `whole` cloned `part`; `was_alone` before that.
[[gnu::cold]] BYRE_API void record_part(const void* whole, const void* part,
                                        bool was_alone) noexcept;
/// The data at one address is known by another one from now on.
[[gnu::cold]] BYRE_API void record_move(const void* from, const void* to) noexcept;
/// Nobody has this address any more.
[[gnu::cold]] BYRE_API void forget_data(const void* data) noexcept;

// A copy, or a write that found its data shared: what it did, and whether it waited, since this thread began it. One
// may be within another, of other data.

[[gnu::cold]] BYRE_API void begin_write(const void* of) noexcept;
[[gnu::cold]] BYRE_API void record_steal(const void* data, std::size_t nbytes,
                                         CallSite site) noexcept;
/// While nobody else can have stolen the data yet.
[[gnu::cold]] BYRE_API void record_copy(const void* data, const void* copy, std::size_t nbytes,
                                        CopyCause cause, CallSite site) noexcept;
/// `shown` may have ended.
[[gnu::cold]] BYRE_API void record_overlay(const void* overlay, std::size_t nbytes,
                                           const void* shown, std::size_t copied_nbytes,
                                           CopyCause cause, CallSite site,
                                           WrittenNbytes written) noexcept;
/// If it did.
[[gnu::cold]] BYRE_API void record_wait(const void* data, CallSite site) noexcept;
/// By a thread of a parallel loop that found the data to be the storage's own: whether another one made it so
/// meanwhile, which this one waited for.
[[gnu::cold]] BYRE_API void record_wait_in_parallel(const void* storage, const void* data,
                                                    CallSite site) noexcept;

/// Begins a recording if BYRE_TRACE is set in the environment, once. Defined in environment.cpp.
void record_for_environment() noexcept;

}  // namespace byre::inline v0::stats::detail
