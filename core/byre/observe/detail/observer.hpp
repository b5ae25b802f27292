// SPDX-License-Identifier: BSL-1.0
/// The observer: the single interface through which byre reports clones, copies, steals, waits,
/// overlays and pins. It passes each report to the counters, the copy sinks, the recordings, and
/// the write trap of a checked build. Nothing throws. A write to data that is already unique
/// reports nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace byre::inline BYRE_ABI::stats::detail {

enum class RecordKind : std::uint8_t {
  allocation,  ///< an allocator provided `nbytes` for data
  release,     ///< `nbytes` of data went back to their allocator
  clone,
  copy,   ///< a copy of `data`; `links_to` is the last clone
  steal,  ///< the last owner took the data without a copy
  wait,   ///< the last owner waited; `links_to` is the copy that ended last
  pin,    ///< a pin for writing
  pin_to_read,
  unpin,
  /// a new overlay `data`, for which `part_nbytes` were copied; `links_to` is the last clone of the
  /// data that it shows
  overlay,
  overlay_end,  ///< the overlay `data` ended; `part_nbytes` had been written in it
  pool_hit,     ///< a request reused an idle block of `nbytes`
  pool_miss,    ///< a request got a new block from the system
  pool_put,     ///< a block was released and is idle
  pool_return,  ///< an idle block was returned to the system
};

/// A function that returns the number of bytes that were written in an overlay.
using WrittenNbytes = std::size_t (*)(const void* overlay, std::size_t nbytes) noexcept;

// The recorder. Each function takes a lock even if there is no recording: call it through
// if_recording().

/// Records an event of `data`, which may be null. A release and an overlay_end also remove `data`
/// from the log.
[[gnu::cold]] BYRE_API void record(RecordKind kind, const void* data, std::size_t nbytes,
                                   CallSite site = {}, std::size_t part_nbytes = 0) noexcept;
/// Counts and records an allocation or a release.
[[gnu::cold]] BYRE_API void record_memory(RecordKind kind, const void* data,
                                          std::size_t nbytes) noexcept;
/// Records a lazy clone. `was_unique`: the data had one owner before the clone.
[[gnu::cold]] BYRE_API void record_clone(const void* data, std::size_t nbytes, bool was_unique,
                                         CallSite site) noexcept;
/// Attributes the clones of `whole`, a node of a tile tree, to its child `part`. `was_unique`: the
/// child had one owner before it was shared.
[[gnu::cold]] BYRE_API void record_part(const void* whole, const void* part,
                                        bool was_unique) noexcept;
/// Records that data moved from address `from` to address `to`.
[[gnu::cold]] BYRE_API void record_move(const void* from, const void* to) noexcept;
/// Removes the entry of `data`, whose address may be reused from now on, from the log.
[[gnu::cold]] BYRE_API void forget_data(const void* data) noexcept;

/// Begins a recording if the environment variable BYRE_TRACE is set. Later calls do nothing.
/// Defined in environment.cpp.
void record_for_environment() noexcept;

// ---- Reports

/// Calls `act()` if there may be a recording.
template <class Act>
[[gnu::always_inline]] inline void if_recording(Act act) noexcept {
  if (may_record()) [[unlikely]] {
    act();
  }
}

/// Reports that an allocator provided `nbytes` for `data`.
[[gnu::always_inline]] inline void report_allocation(const void* data,
                                                     std::size_t nbytes) noexcept {
  count_or_else([=]() noexcept { record_memory(RecordKind::allocation, data, nbytes); },
                plus(Counter::live_bytes, nbytes));
}
/// Reports that the `nbytes` of `data` went back to their allocator.
[[gnu::always_inline]] inline void report_release(const void* data, std::size_t nbytes) noexcept {
  count_or_else([=]() noexcept { record_memory(RecordKind::release, data, nbytes); },
                minus(Counter::live_bytes, nbytes));
}

/// Reports that foreign data or a node of a tile tree is destroyed.
inline void report_end(const void* data) noexcept {
  if_recording([=] { forget_data(data); });
}

/// Reports an event of a pool, and applies `changes` to the counters.
template <std::same_as<Change>... Changes>
inline void report_pool(RecordKind kind, std::size_t nbytes, Changes... changes) noexcept {
  (count(changes), ...);
  if_recording([=] { record(kind, nullptr, nbytes); });
}

/// The source of a lazy clone is counted once, as every owner without a watch.
struct CountedOnce {
  constexpr std::uint32_t operator()() const noexcept { return 1; }
};

template <class Header, class AddOwner, class Counted>
[[gnu::cold, gnu::noinline]] inline void report_recorded_clone(Header& header, CallSite site,
                                                               AddOwner add_owner,
                                                               Counted counted) noexcept {
  add_owner();
  count(plus(Counter::lazy_clones), plus(Counter::bytes_cloned, header.nbytes()));
  if_recording([&] {
    const bool was_unique = header.share().use_count() == counted() + 1;
    record_clone(header.data(), header.nbytes(), was_unique, site);
  });
}

/// Counts a lazy clone of the data of `header`. Requires that may_record() is false.
template <class Header, class AddOwner>
[[gnu::always_inline]] inline void count_clone(const Header& header, AddOwner add_owner) noexcept {
  count_quickly_around(add_owner, plus(Counter::lazy_clones),
                       plus(Counter::bytes_cloned, header.nbytes()));
}

/// Reports a lazy clone of the data of `header`. `add_owner()` adds the owner. `counted()` is how
/// often the share word counts the source; it is called only for a recording.
template <class Header, class AddOwner, class Counted = CountedOnce>
[[gnu::always_inline]] inline void report_clone(Header& header, CallSite site, AddOwner add_owner,
                                                Counted counted = {}) noexcept {
  header.becomes_shared(site);
  if (may_record()) [[unlikely]] {
    report_recorded_clone(header, site, add_owner, counted);
  } else {
    count_clone(header, add_owner);
  }
}

/// Reports a clone of `nbytes`; `copied_nbytes` of them were copied immediately. `data` identifies
/// the source; it is null for an empty source. `was_unique`: the source had one owner before the
/// clone.
inline void report_clone_of(const void* data, std::size_t nbytes, std::size_t copied_nbytes,
                            bool was_unique, CallSite site) noexcept {
  count(plus(Counter::lazy_clones), plus(Counter::bytes_cloned, nbytes - copied_nbytes));
  if (data != nullptr) {
    if_recording([=] { record_clone(data, nbytes, was_unique, site); });
  }
}

inline void report_pin(RecordKind kind, const void* data, std::size_t nbytes,
                       CallSite site) noexcept {
  if (data != nullptr) {
    if_recording([=] { record(kind, data, nbytes, site); });
  }
}

/// Reports that data moved from address `from` to address `to`.
inline void report_move(const void* from, const void* to) noexcept {
  if_recording([=] { record_move(from, to); });
}

/// The report of one write to shared data, or of one copy. Its destructor calls the copy sinks, so
/// it must be declared before the locks that the write holds.
class WriteReport {
 public:
  WriteReport() noexcept = default;
  WriteReport(const WriteReport&) = delete;
  WriteReport& operator=(const WriteReport&) = delete;
  ~WriteReport() {
    if (for_sinks_) [[unlikely]] {
      call_sinks(*for_sinks_);
    }
  }

  /// Begins to measure a wait for the data or for the storage.
  void begin() noexcept {
    if_recording([this] { record_begin(); });
  }

  /// Reports a steal: the last owner took the data without a copy.
  template <class Header>
  void stole(Header& header, CallSite site) const noexcept {
    header.becomes_unique(site);
    count(plus(Counter::steals));
    if_recording([&] { record_steal(header.data(), header.nbytes(), site); });
  }

  /// Reports a wait, if the thread waited since begin().
  void waited(const void* data, CallSite site) const noexcept {
    if_recording([&] { record_wait(data, site, false); });
  }
  /// Reports a wait in a parallel loop, if another thread of the loop made `data` unique to the
  /// storage after begin().
  void waited_in_parallel(const void* data, CallSite site) const noexcept {
    if_recording([&] { record_wait(data, site, true); });
  }

  /// Reports a complete copy. Requires that the source still exists.
  void copied(const void* source, const void* copy, const CopyEvent& event) noexcept {
    copied_by([]() noexcept {}, source, copy, event);
  }
  /// Reports what copied() reports, and calls `step()`, which completes the copy. Afterwards
  /// another owner may steal the source. Requires that `step` changes no counters.
  template <class Step>
  [[gnu::always_inline]] void copied_by(Step step, const void* source, const void* copy,
                                        const CopyEvent& event) noexcept {
    recorded(source, copy, event);
    counted_by(step, event);
  }
  void recorded(const void* source, const void* copy, const CopyEvent& event) const noexcept {
    if_recording([&] { record_copy(source, copy, event); });
  }
  /// Does what copied_by() does, but adds no record to recordings.
  template <class Step>
  [[gnu::always_inline]] void counted_by(Step step, const CopyEvent& event) noexcept {
    const bool unshared = event.cause == CopyCause::shared || event.cause == CopyCause::pending;
    const Change copies = plus(Counter::copies);
    const Change nbytes =
        plus(unshared ? Counter::bytes_unshared : Counter::bytes_otherwise, event.nbytes);
    if (may_record()) [[unlikely]] {
      step();
      count(copies, nbytes);
    } else {
      count_quickly_around(step, copies, nbytes);
    }
    if (BYRE_STATS && sink_flag.is_set()) [[unlikely]] {
      for_sinks_ = event;
    }
  }

  /// Reports an overlay that shows `shown`; event.nbytes were copied for it. `written` counts the
  /// written pages of the overlay for a recording.
  template <class Header>
  void overlaid(Header& overlay, const void* shown, const CopyEvent& event,
                WrittenNbytes written) noexcept {
    overlay.becomes_unique(event.site);
    count(plus(Counter::overlays));
    if_recording(
        [&] { record_overlay(overlay.data(), overlay.capacity(), shown, event, written); });
    if (event.nbytes != 0) {
      counted_by([]() noexcept {}, event);
    }
  }

 private:
  [[gnu::cold]] BYRE_API void record_begin() noexcept;
  [[gnu::cold]] BYRE_API void record_steal(const void* data, std::size_t nbytes,
                                           CallSite site) const noexcept;
  [[gnu::cold]] BYRE_API void record_wait(const void* data, CallSite site,
                                          bool in_parallel) const noexcept;
  /// Must be called before another owner can steal the data.
  [[gnu::cold]] BYRE_API void record_copy(const void* data, const void* copy,
                                          const CopyEvent& event) const noexcept;
  /// The data at `shown` may already be destroyed.
  [[gnu::cold]] BYRE_API void record_overlay(const void* overlay, std::size_t nbytes,
                                             const void* shown, const CopyEvent& event,
                                             WrittenNbytes written) const noexcept;

  std::int64_t begin_ns_ = 0;     // 0: there was no recording at begin()
  std::int64_t begin_waits_ = 0;  // this thread's count of waits at begin()
  std::optional<CopyEvent> for_sinks_;
};

}  // namespace byre::inline BYRE_ABI::stats::detail
