// SPDX-License-Identifier: BSL-1.0
/// Generations tell a view family (a tensor with its views) whether another family has written the
/// storage that both share. A generation is the number of a write. A stamp (WriteStamp) holds the
/// generation of a write and the number of its record.
///
/// The storage holds the stamp of its last write. Each family holds the stamp of the last write
/// that it has observed. A family is stale if the storage's stamp is later: another family has
/// written since, and this family would not read the written values if reshape copied instead of
/// making an alias. The compare-exchange that makes a write the storage's last write also returns
/// the write before it. Therefore, if two families write at once, one of them is found stale. A
/// family also holds the stamp of its unread write: a write of another family that was reported
/// when this family wrote, and whose elements this family may still read.
///
/// Invariants:
///   1. The storage's stamp counts the writes of the storage: no two writes have equal stamps.
///   2. The stamp that a family has observed was the storage's stamp at some time. It is the stamp
///      of the family's own last write, the stamp of a write that was reported to the family, or
///      the stamp of the family from which this family was made.
///   3. If a family's stamp equals the storage's, then the family wrote last, or the last write was
///      reported to it, or the family was made from another family for which this invariant holds.
///   4. The unread write of a family was reported when the family itself was about to write. It
///      stays unread until a write is reported to a read of the family, or until the family writes
///      all elements of the storage.
///
/// Source: the design note "Copy-on-write motivation". The note compares two counters; the
/// comparison of two stamps replaces that.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/sync.hpp>

#include <optional>

namespace byre::inline BYRE_ABI::shadow::detail {

template <sync::Sync Sync>
class basic_family_generation;

/// The stamp of a storage's last write. Thread-safe; lock-free.
template <sync::Sync Sync>
class basic_storage_generation {
 public:
  basic_storage_generation() noexcept : last_(0) {}
  basic_storage_generation(const basic_storage_generation&) = delete;
  basic_storage_generation& operator=(const basic_storage_generation&) = delete;

 private:
  friend class basic_family_generation<Sync>;

  typename Sync::template Atomic<std::uint64_t> last_;
};

/// The stamps of a view family: of the last write that it has observed, and of a write that it has
/// not read. Thread-safety is that of the family's tensors: reads may run concurrently, and the
/// caller must not run a write concurrently with another access of the family. Other families may
/// access the storage meanwhile. Lock-free; if the family is not stale, wait-free except for
/// spurious failures.
template <sync::Sync Sync>
class basic_family_generation {
 public:
  using StorageGeneration = basic_storage_generation<Sync>;

  basic_family_generation() noexcept : observed_(0), unread_(0) {}
  /// For a family that a reshape makes from `origin`: copies both stamps.
  explicit basic_family_generation(const basic_family_generation& origin) noexcept
      : observed_(origin.observed().word()), unread_(origin.unread().word()) {}
  basic_family_generation& operator=(const basic_family_generation&) = delete;

  WriteStamp observed() const noexcept {
    // Relaxed, pairs with nothing: the caller orders the accesses of one family, except its reads.
    return WriteStamp(observed_.load(sites.at(At::observed, std::memory_order::relaxed)));
  }

  /// A write that was reported when the family wrote and that the family has not read, else
  /// WriteStamp().
  WriteStamp unread() const noexcept {
    // Relaxed, pairs with nothing: a write of the family stored it, and the family's reads come
    // after that write.
    return WriteStamp(unread_.load(sites.at(At::unread, std::memory_order::relaxed)));
  }

  /// Before a write: the storage's last write if the family is stale, else nothing.
  std::optional<WriteStamp> stale(const StorageGeneration& storage) const noexcept {
    // Acquire pairs with the write: a thread that loads the stamp of a write finds the record of
    // that write, or families_read_and_write fails.
    const WriteStamp last(storage.last_.load(sites.at(At::load_last, std::memory_order::acquire)));
    // Compares by > and not by !=, because another read of the family may have observed a later
    // write by now (scenario families_read_at_once).
    return last.generation() > observed().generation() ? std::optional(last) : std::nullopt;
  }
  /// Before a read: the storage's last write if the family is stale, else the unread write, else
  /// nothing.
  std::optional<WriteStamp> stale_or_unread(const StorageGeneration& storage) const noexcept {
    if (const auto last = stale(storage)) [[unlikely]] {
      return last;
    }
    const WriteStamp left = unread();
    return left == WriteStamp() ? std::nullopt : std::optional(left);
  }

  /// Stores that the family has observed `write`. The family is then stale only if another write
  /// followed.
  void observe(WriteStamp write) noexcept {
    // Relaxed, pairs with nothing: two concurrent reads of one family may store in either order, so
    // that the earlier stamp may remain. Without this store, families_read_and_write reports a
    // family's own write.
    observed_.store(write.word(), sites.at(At::observe, std::memory_order::relaxed));
  }
  /// Observes `write` by a read of the family, and clears the unread write. The family may have
  /// observed a later write already, also by a concurrent read.
  void observe_by_reading(WriteStamp write) noexcept {
    if (write.generation() > observed().generation()) {
      observe(write);
    }
    forget_unread();
  }
  /// Stores that the family writes, or is about to write, without having read `write`.
  void leave_unread(WriteStamp write) noexcept {
    // Relaxed, pairs with nothing: the caller orders a write of the family with its other accesses.
    // Without this store, families_leave_unread does not report the part that the family did not
    // overwrite.
    unread_.store(write.word(), sites.at(At::leave_unread, std::memory_order::relaxed));
  }
  /// Clears the unread write: the family has overwritten all of it, or it was reported to a read.
  void forget_unread() noexcept {
    // Relaxed, pairs with nothing: two concurrent reads of one family may both be reported. Without
    // this store, families_leave_unread reports a write again.
    unread_.store(none, sites.at(At::forget_unread, std::memory_order::relaxed));
  }

  /// Makes a write with this record the storage's last write. The family has then observed this
  /// write and all writes before it. Before each attempt, calls `supersedes(last)` with the write
  /// that the new write may supersede. Returns the write before this write if the family had not
  /// observed it, else nothing.
  template <class Supersedes>
  std::optional<WriteStamp> write(StorageGeneration& storage, RecordId record,
                                  const Supersedes& supersedes) noexcept {
    const WriteStamp known = observed();
    WriteStamp last = known;
    supersedes(last);
    std::uint64_t found = last.word();
    // Release pairs with load_last and load_last_again: the record is stored first, or
    // families_race fails. If the load and the store were two steps, two families that write at
    // once could miss each other's write.
    while (!storage.last_.compare_exchange_weak(found, after(last, record).word(),
                                                sites.at(At::write, std::memory_order::release))) {
      if (found != last.word()) {  // the exchange did not fail spuriously
        last = load_last_again(storage);
        supersedes(last);
        found = last.word();
      }
    }
    observe(after(last, record));
    return last == known ? std::nullopt : std::optional(last);
  }

 private:
  using At = GenerationSite;
  static constexpr const auto& sites = generation_sites;
  static constexpr std::uint64_t none = WriteStamp().word();
  static constexpr auto step = Sync::value_of(generation_constants.at(GenerationConstant::step));

  static WriteStamp load_last_again(const StorageGeneration& storage) noexcept {
    // Acquire pairs with the write: the other family's record is found, or families_race fails.
    return WriteStamp(
        storage.last_.load(sites.at(At::load_last_again, std::memory_order::acquire)));
  }
  /// The stamp of the write that follows `stamp`, with this record.
  static WriteStamp after(WriteStamp stamp, RecordId record) noexcept {
    return WriteStamp(((stamp.generation() << WriteStamp::record_bits) + step) | record);
  }

  typename Sync::template Atomic<std::uint64_t> observed_;
  typename Sync::template Atomic<std::uint64_t> unread_;
};

}  // namespace byre::inline BYRE_ABI::shadow::detail
