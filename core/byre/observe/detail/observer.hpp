// SPDX-License-Identifier: BSL-1.0
/// The observer: the single interface through which byre reports clones, copies, steals, waits,
/// overlays and pins. It passes each report to the counters, the copy sinks, the recordings, the
/// ledger of tagged memory, and the write trap of a checked build. Nothing throws. A write to data
/// that is already unique reports nothing.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/detail/ledger.hpp>
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

// The recorder, and the ledger. Each function takes a lock even if there is no listener: call it
// through if_listening().

/// Records an event of `data`, which may be null. A release and an overlay_end also remove `data`
/// from the log.
[[gnu::cold]] BYRE_API void record(RecordKind kind, const void* data, std::size_t nbytes,
                                   CallSite site = {}, std::size_t part_nbytes = 0) noexcept;
/// Counts and records an allocation or a release.
[[gnu::cold]] BYRE_API void record_memory(RecordKind kind, const DataFacts& data,
                                          std::size_t nbytes) noexcept;
/// Records a lazy clone. `was_unique`: the data had one owner before the clone.
[[gnu::cold]] BYRE_API void record_clone(const DataFacts& data, std::size_t nbytes, bool was_unique,
                                         CallSite site) noexcept;
/// Attributes the clones of `whole`, a node of a tile tree, to its child `part`. `was_unique`: the
/// child had one owner before it was shared.
[[gnu::cold]] BYRE_API void record_part(const void* whole, const DataFacts& part,
                                        bool was_unique) noexcept;
/// Records that data moved from address `from` to address `to`.
[[gnu::cold]] BYRE_API void record_move(const void* from, const void* to) noexcept;
/// Removes the entry of `data`, whose address may be reused from now on, from the log.
[[gnu::cold]] BYRE_API void forget_data(const void* data) noexcept;

/// Begins a recording if the environment variable BYRE_TRACE is set. Later calls do nothing.
/// Defined in environment.cpp.
void record_for_environment() noexcept;

// ---- Reports

/// Calls `act()` if there may be a listener: a recording, or the ledger.
template <class Act>
[[gnu::always_inline]] inline void if_listening(Act act) noexcept {
  if (may_record()) [[unlikely]] {
    act();
  }
}

template <class Header>
[[gnu::cold, gnu::noinline]] inline void record_memory_of(RecordKind kind, const Header& header,
                                                          std::size_t nbytes) noexcept {
  record_memory(kind, header.facts(), nbytes);
}

/// Reports that an allocator provided `nbytes` for the data of `header`.
template <class Header>
[[gnu::always_inline]] inline void report_allocation(const Header& header,
                                                     std::size_t nbytes) noexcept {
  count_or_else(
      [&header, nbytes]() noexcept { record_memory_of(RecordKind::allocation, header, nbytes); },
      plus(Counter::live_bytes, nbytes));
}
/// Reports that the `nbytes` of the data of `header` went back to their allocator.
template <class Header>
[[gnu::always_inline]] inline void report_release(const Header& header,
                                                  std::size_t nbytes) noexcept {
  count_or_else(
      [&header, nbytes]() noexcept { record_memory_of(RecordKind::release, header, nbytes); },
      minus(Counter::live_bytes, nbytes));
}

/// Reports that data without an allocator exists: foreign data.
template <class Header>
inline void report_foreign(const Header& header) noexcept {
  if_listening([&] { ledger::add(header.facts()); });
}
/// Reports that foreign data or a node of a tile tree is destroyed.
inline void report_end(const void* header, const void* data) noexcept {
  if_listening([=] {
    ledger::remove(header);
    forget_data(data);
  });
}

/// Makes the tag of `source` the tag of `copy`, without a record of the copy.
template <class Header>
inline void report_tag(const Header& source, const Header& copy) noexcept {
  if_listening([&] { ledger::inherit(source.facts(), copy.facts()); });
}

/// The facts of data that may be released before a copy of it is reported.
template <class Header>
inline DataFacts facts_with_tag(const Header& header) noexcept {
  DataFacts facts = header.facts();
  if_listening([&] { facts.tag = ledger::tag_of(facts.header); });
  return facts;
}

/// Reports an event of a pool, and applies `changes` to the counters.
template <std::same_as<Change>... Changes>
inline void report_pool(RecordKind kind, std::size_t nbytes, Changes... changes) noexcept {
  (count(changes), ...);
  if_listening([=] { record(kind, nullptr, nbytes); });
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
  if_listening([&] {
    const bool was_unique = header.share().use_count() == counted() + 1;
    record_clone(header.facts(), header.nbytes(), was_unique, site);
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

/// Reports a clone of `nbytes`; `copied_nbytes` of them were copied immediately. `facts()` returns
/// the DataFacts of the source; their header is null if the source is empty. `was_unique`: the
/// source had one owner before the clone.
template <class Facts>
inline void report_clone_of(Facts facts, std::size_t nbytes, std::size_t copied_nbytes,
                            bool was_unique, CallSite site) noexcept {
  count(plus(Counter::lazy_clones), plus(Counter::bytes_cloned, nbytes - copied_nbytes));
  if_listening([&] {
    if (const DataFacts source = facts(); source.header != nullptr) {
      record_clone(source, nbytes, was_unique, site);
    }
  });
}

inline void report_pin(RecordKind kind, const void* data, std::size_t nbytes,
                       CallSite site) noexcept {
  if (data != nullptr) {
    if_listening([=] { record(kind, data, nbytes, site); });
  }
}

/// Reports that data moved from address `from` to address `to`.
inline void report_move(const void* from, const void* to) noexcept {
  if_listening([=] { record_move(from, to); });
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
    if_listening([this] { record_begin(); });
  }

  /// Reports a steal: the last owner took the data without a copy.
  template <class Header>
  void stole(Header& header, CallSite site) const noexcept {
    header.becomes_unique(site);
    count(plus(Counter::steals));
    if_listening([&] { record_steal(header.data(), header.nbytes(), site); });
  }

  /// Reports a wait, if the thread waited since begin().
  void waited(const void* data, CallSite site) const noexcept {
    if_listening([&] { record_wait(data, site, false); });
  }
  /// Reports a wait in a parallel loop, if another thread of the loop made `data` unique to the
  /// storage after begin().
  void waited_in_parallel(const void* data, CallSite site) const noexcept {
    if_listening([&] { record_wait(data, site, true); });
  }

  // `source` and `copy` are headers or DataFacts; an empty DataFacts stands for a copy in no data
  // of this process.

  /// Reports a complete copy. If the source may be destroyed already, pass facts_with_tag().
  template <class Source, class Copy>
  void copied(const Source& source, const Copy& copy, const CopyEvent& event) noexcept {
    copied_by([]() noexcept {}, source, copy, event);
  }
  /// Reports what copied() reports, and calls `step()`, which completes the copy. Afterwards
  /// another owner may steal the source. Requires that `step` changes no counters.
  template <class Step, class Source, class Copy>
  [[gnu::always_inline]] void copied_by(Step step, const Source& source, const Copy& copy,
                                        const CopyEvent& event) noexcept {
    recorded(source, copy, event);
    counted_by(step, event);
  }
  template <class Source, class Copy>
  void recorded(const Source& source, const Copy& copy, const CopyEvent& event) const noexcept {
    if_listening([&] { record_copy_of(source, copy, event); });
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
  void overlaid(Header& overlay, const DataFacts& shown, const CopyEvent& event,
                WrittenNbytes written) noexcept {
    overlay.becomes_unique(event.site);
    count(plus(Counter::overlays));
    if_listening([&] { record_overlay(overlay.facts(), shown, event, written); });
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
  [[gnu::cold]] BYRE_API void record_copy(const DataFacts& source, const DataFacts& copy,
                                          const CopyEvent& event) const noexcept;
  template <class Source, class Copy>
  [[gnu::cold, gnu::noinline]] void record_copy_of(const Source& source, const Copy& copy,
                                                   const CopyEvent& event) const noexcept {
    record_copy(source.facts(), copy.facts(), event);
  }
  /// `shown`: the data that the overlay shows, which may already be destroyed.
  [[gnu::cold]] BYRE_API void record_overlay(const DataFacts& overlay, const DataFacts& shown,
                                             const CopyEvent& event,
                                             WrittenNbytes written) const noexcept;

  std::int64_t begin_ns_ = 0;     // 0: there was no recording at begin()
  std::int64_t begin_waits_ = 0;  // this thread's count of waits at begin()
  std::optional<CopyEvent> for_sinks_;
};

}  // namespace byre::inline BYRE_ABI::stats::detail
