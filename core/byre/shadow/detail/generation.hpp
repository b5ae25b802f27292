// SPDX-License-Identifier: BSL-1.0
/// Generations: how view families that share a storage find out that another of them wrote it.
///
/// The storage has the stamp of its last write. Each family has the stamp of the last write that it
/// has observed. A family whose stamp is another than the storage's is stale: some other family wrote
/// since, and with copies in place of aliases it would not see that write. The step that makes a write the
/// storage's last finds the one before: of two families that write at once one is found stale.
///
/// Invariants:
///   1. The storage's stamp has as many generations as there were writes: no two writes have one stamp.
///   2. A family has observed a stamp that the storage had: of its own last write, of a write that was
///      reported to it, or what the family had observed that it came from.
///   3. A family whose stamp is the storage's wrote last, had the last write reported, or came from one
///      of which that is true.
///   4. What a family has not read is a write that was reported where it was about to write itself. It
///      stays until a write is reported where the family reads, or until the family writes all there is.
///
/// Source: the seed "Copy-on-write motivation", whose two counters are here one comparison.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <optional>

namespace byre::inline v0::shadow::detail {

template <sync::Sync Sync>
class basic_family_generation;

/// Of a storage: the stamp of its last write. Thread-safe; lock-free.
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

/// Of a view family: the stamp of the last write it has observed, and of one that it has not read.
/// Thread-safe as the tensors of the family are: reads at once, a write alone; whatever other families
/// do. Lock-free; wait-free where the family is not stale, but for spurious failures.
template <sync::Sync Sync>
class basic_family_generation {
 public:
  using StorageGeneration = basic_storage_generation<Sync>;

  basic_family_generation() noexcept : observed_(0), unread_(0) {}
  /// Of a family that a reshape made out of `origin`: it has observed and left unread the same writes.
  explicit basic_family_generation(const basic_family_generation& origin) noexcept
      : observed_(origin.observed().word()), unread_(origin.unread().word()) {}
  basic_family_generation& operator=(const basic_family_generation&) = delete;

  WriteStamp observed() const noexcept {
    // Relaxed, and pairs with nothing: accesses of one family are ordered by the caller, but for reads.
    return WriteStamp(observed_.load(sites.at(At::observed, std::memory_order::relaxed)));
  }

  /// A write that was reported where the family wrote, and that it has not read; none if it has.
  WriteStamp unread() const noexcept {
    // Relaxed, and pairs with nothing: a write of the family left it, which its reads come after.
    return WriteStamp(unread_.load(sites.at(At::unread, std::memory_order::relaxed)));
  }

  /// For a write: the storage's last write if the family is stale, else nothing.
  std::optional<WriteStamp> stale(const StorageGeneration& storage) const noexcept {
    // Acquire pairs with the writes: who sees a write finds its record, or families_read_and_write
    // fails.
    const WriteStamp last(storage.last_.load(sites.at(At::load_last, std::memory_order::acquire)));
    // Another read of the family may have observed a later write by now: families_read_at_once.
    return last.generation() > observed().generation() ? std::optional(last) : std::nullopt;
  }
  /// For a read: that, or else what the family has not read, or nothing.
  std::optional<WriteStamp> stale_or_unread(const StorageGeneration& storage) const noexcept {
    if (const auto last = stale(storage)) [[unlikely]] {
      return last;
    }
    const WriteStamp left = unread();
    return left == WriteStamp() ? std::nullopt : std::optional(left);
  }

  /// The family is no longer stale, unless there was another write.
  void observe(WriteStamp write) noexcept {
    // Relaxed, and pairs with nothing: two reads of one family at once may leave what the earlier saw. Left out,
    // families_read_and_write reports a family's own write.
    observed_.store(write.word(), sites.at(At::observe, std::memory_order::relaxed));
  }
  /// The same where it reads: nothing is unread any more. `write` may be older than what the family has
  /// observed, by then or by another read at once.
  void observe_by_reading(WriteStamp write) noexcept {
    if (write.generation() > observed().generation()) {
      observe(write);
    }
    forget_unread();
  }
  /// The family wrote, or is about to, and has not read `write`.
  void leave_unread(WriteStamp write) noexcept {
    // Relaxed, and pairs with nothing: a write of the family excludes its other accesses. Left out,
    // families_leave_unread does not report what the family did not write over.
    unread_.store(write.word(), sites.at(At::leave_unread, std::memory_order::relaxed));
  }
  /// It wrote over all that it had not read, or that was reported where it read.
  void forget_unread() noexcept {
    // Relaxed, and pairs with nothing: of two reads of one family at once both may be reported. Left out,
    // families_leave_unread reports a write again.
    unread_.store(none, sites.at(At::forget_unread, std::memory_order::relaxed));
  }

  /// Writes with this record, after whatever was written, and observes all that. Calls
  /// `supersedes(write)` before each write that it might supersede. Returns the last write if the family
  /// was stale of it, else nothing.
  template <class Supersedes>
  std::optional<WriteStamp> write(StorageGeneration& storage, RecordId record,
                                  const Supersedes& supersedes) noexcept {
    const WriteStamp known = observed();
    WriteStamp last = known;
    supersedes(last);
    std::uint64_t found = last.word();
    // Release pairs with load_last and load_last_again: the record comes first, or families_race fails. As two steps,
    // neither of two families that write at once finds the other.
    while (!storage.last_.compare_exchange_weak(found, after(last, record).word(),
                                                sites.at(At::write, std::memory_order::release))) {
      if (found != last.word()) {  // it did not fail spuriously
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
    // Acquire pairs with the writes: the other's record is found, or families_race fails.
    return WriteStamp(
        storage.last_.load(sites.at(At::load_last_again, std::memory_order::acquire)));
  }
  /// The write after `stamp`, with this record.
  static WriteStamp after(WriteStamp stamp, RecordId record) noexcept {
    return WriteStamp(((stamp.generation() << WriteStamp::record_bits) + step) | record);
  }

  typename Sync::template Atomic<std::uint64_t> observed_;
  typename Sync::template Atomic<std::uint64_t> unread_;
};

}  // namespace byre::inline v0::shadow::detail
