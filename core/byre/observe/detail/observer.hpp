// SPDX-License-Identifier: BSL-1.0
/// The observer: the one place that clones, copies, steals, waits, overlays and pins are reported
/// to. Counters, copy sinks, recordings and the write trap of a checked build take from each report
/// what they need. Nothing throws. A write to data that is already unique reports nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

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
  /// a new overlay `data`; `part_nbytes` were copied for it; `links_to` the last clone of the data
  /// it shows
  overlay,
  overlay_end,  ///< the end of overlay `data`, in which `part_nbytes` were written
  pool_hit,     ///< a block of `nbytes` that was idle in a pool
  pool_miss,    ///< one that came from the system
  pool_put,     ///< one that idles from now on
  pool_return,  ///< one that went back to the system
};

/// How many bytes of an overlay were written.
using WrittenNbytes = std::size_t (*)(const void* overlay, std::size_t nbytes) noexcept;

// The recorder. Each function takes a lock even if there is no recording: if_recording() asks
// first.

/// An event of `data`, which may be null. A release and the end of an overlay end the data, too.
[[gnu::cold]] BYRE_API void record(RecordKind kind, const void* data, std::size_t nbytes,
                                   CallSite site = {}, std::size_t part_nbytes = 0) noexcept;
/// Also counts: an allocation or a release.
[[gnu::cold]] BYRE_API void record_memory(RecordKind kind, const void* data,
                                          std::size_t nbytes) noexcept;
/// `was_unique`: before that, one owner had the data.
[[gnu::cold]] BYRE_API void record_clone(const void* data, std::size_t nbytes, bool was_unique,
                                         CallSite site) noexcept;
/// What shares its parts: the lines that cloned `whole` cloned `part`; `was_unique` before that.
[[gnu::cold]] BYRE_API void record_part(const void* whole, const void* part,
                                        bool was_unique) noexcept;
/// The data at one address is known by another one from now on.
[[gnu::cold]] BYRE_API void record_move(const void* from, const void* to) noexcept;
/// The data at this address ended.
[[gnu::cold]] BYRE_API void forget_data(const void* data) noexcept;

/// Begins a recording if BYRE_TRACE is set in the environment, once. Defined in environment.cpp.
void record_for_environment() noexcept;

// ---- reports

/// Calls `act()` if this thread has to ask whether there is a recording.
template <class Act>
[[gnu::always_inline]] inline void if_recording(Act act) noexcept {
  if (may_record()) [[unlikely]] {
    act();
  }
}

/// Memory that an allocator gave to data, and that it gets back.
[[gnu::always_inline]] inline void report_allocation(const void* data,
                                                     std::size_t nbytes) noexcept {
  count_or_else([=]() noexcept { record_memory(RecordKind::allocation, data, nbytes); },
                plus(Counter::live_bytes, nbytes));
}
[[gnu::always_inline]] inline void report_release(const void* data, std::size_t nbytes) noexcept {
  count_or_else([=]() noexcept { record_memory(RecordKind::release, data, nbytes); },
                minus(Counter::live_bytes, nbytes));
}

/// Foreign data that ends, or a node of tiles.
inline void report_end(const void* data) noexcept {
  if_recording([=] { forget_data(data); });
}

/// A block that a pool gets or gives, with the change of a counter if there is one.
template <std::same_as<Change>... Changes>
inline void report_pool(RecordKind kind, std::size_t nbytes, Changes... changes) noexcept {
  (count(changes), ...);
  if_recording([=] { record(kind, nullptr, nbytes); });
}

template <class Header, class AddOwner>
[[gnu::cold, gnu::noinline]] inline void report_recorded_clone(Header& header, CallSite site,
                                                               AddOwner add_owner) noexcept {
  add_owner();
  count(plus(Counter::lazy_clones), plus(Counter::bytes_cloned, header.nbytes()));
  if_recording(
      [&] { record_clone(header.data(), header.nbytes(), header.share().use_count() == 2, site); });
}

/// A lazy clone of the data of `header`, which has one owner more after `add_owner()`.
template <class Header, class AddOwner>
[[gnu::always_inline]] inline void report_clone(Header& header, CallSite site,
                                                AddOwner add_owner) noexcept {
  header.becomes_shared(site);
  if (may_record()) [[unlikely]] {
    report_recorded_clone(header, site, add_owner);
  } else {
    count_quickly_around(add_owner, plus(Counter::lazy_clones),
                         plus(Counter::bytes_cloned, header.nbytes()));
  }
}

/// A clone of `nbytes` bytes; `copied_nbytes` of them were copied at once. `data` names the source;
/// null is no bytes. `was_unique`: before the clone, the source had one owner.
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

/// The data at one address is known by another one from now on.
inline void report_move(const void* from, const void* to) noexcept {
  if_recording([=] { record_move(from, to); });
}

/// One write that found its data shared, or one copy. It lives on the stack, in front of the locks
/// that the write needs: its end calls the copy sinks.
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

  /// A wait for the data, or for the storage, counts from here.
  void begin() noexcept {
    if_recording([this] { record_begin(); });
  }

  /// The last owner keeps its data.
  template <class Header>
  void stole(Header& header, CallSite site) const noexcept {
    header.becomes_unique(site);
    count(plus(Counter::steals));
    if_recording([&] { record_steal(header.data(), header.nbytes(), site); });
  }

  /// If the thread waited since begin().
  void waited(const void* data, CallSite site) const noexcept {
    if_recording([&] { record_wait(data, site, false); });
  }
  /// If the thread waited until another thread of the parallel loop had made `data` the storage's
  /// own.
  void waited_in_parallel(const void* data, CallSite site) const noexcept {
    if_recording([&] { record_wait(data, site, true); });
  }

  /// A copy that is complete, while its source still exists.
  void copied(const void* source, const void* copy, const CopyEvent& event) noexcept {
    copied_by([]() noexcept {}, source, copy, event);
  }
  /// Also the step that completes the copy, after which another owner may steal the source. It
  /// counts nothing itself.
  template <class Step>
  [[gnu::always_inline]] void copied_by(Step step, const void* source, const void* copy,
                                        const CopyEvent& event) noexcept {
    recorded(source, copy, event);
    counted_by(step, event);
  }
  void recorded(const void* source, const void* copy, const CopyEvent& event) const noexcept {
    if_recording([&] { record_copy(source, copy, event); });
  }
  /// As copied_by(), without a record.
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

  /// An overlay that shows `shown`, and the bytes of pages that were copied for it. `written`
  /// counts its written pages for a recording.
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
  /// Before another owner can steal the data.
  [[gnu::cold]] BYRE_API void record_copy(const void* data, const void* copy,
                                          const CopyEvent& event) const noexcept;
  /// `shown` may have ended.
  [[gnu::cold]] BYRE_API void record_overlay(const void* overlay, std::size_t nbytes,
                                             const void* shown, const CopyEvent& event,
                                             WrittenNbytes written) const noexcept;

  std::int64_t begin_ns_ = 0;     // 0: it was before there was a recording
  std::int64_t begin_waits_ = 0;  // that this thread had counted
  std::optional<CopyEvent> for_sinks_;
};

}  // namespace byre::inline v0::stats::detail
