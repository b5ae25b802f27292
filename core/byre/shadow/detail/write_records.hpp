// SPDX-License-Identifier: BSL-1.0
/// The records of the writes to one storage. A record has an origin (the call site of the writes
/// and the reshape of the writing family), and its last superseded write. A write is superseded if
/// a write with another record followed. A report names a superseded write if the storage's last
/// write is suppressed, or if an earlier write is an error.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/detail/relaxed.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <new>
#include <optional>

namespace byre::inline BYRE_ABI::shadow::detail {

enum class WriteRecordsSite : std::uint8_t { load_first, push, superseded, supersede };

inline constexpr sync::SiteTable<WriteRecordsSite, 4> write_records_sites{{{
    {"write_records.load_first", sync::Operation::load, std::memory_order::acquire},
    {"write_records.push", sync::Operation::compare_exchange, std::memory_order::release},
    {"write_records.superseded", sync::Operation::load, std::memory_order::relaxed},
    {"write_records.supersede", sync::Operation::compare_exchange, std::memory_order::relaxed},
}}};

/// A list of records, each with an Origin. An Origin is constructed from a key, and
/// `origin.is(key)` compares it with a key.
///
/// Invariants:
///   1. The list has one record for each origin, and numbers follow the order of the list.
///   2. A record stays in the list while the storage lives.
///   3. The superseded write of a record is replaced only by a later superseded write.
///   4. A write is marked superseded before another write replaces it as the storage's last write.
///      A thread that has loaded the storage's last write therefore finds the last write of every
///      other record here.
///
/// Thread-safe; lock-free. Records are few: a search visits all of them.
template <sync::Sync Sync, class Origin>
class basic_write_records {
 public:
  struct Record {
    template <class Key>
    explicit Record(const Key& key) noexcept : origin(key) {}

    Origin origin;
    /// The family that made the last write with this record, as FamilyNumber::word() packs it.
    sync::detail::RelaxedCounter writer;

   private:
    friend class basic_write_records;
    typename Sync::template Atomic<std::uint64_t> superseded{0};
    typename Sync::template Plain<RecordId> id{0};
    typename Sync::template Plain<Record*> next{nullptr};
  };

  basic_write_records() noexcept : first_(0) {}
  basic_write_records(const basic_write_records&) = delete;
  basic_write_records& operator=(const basic_write_records&) = delete;
  ~basic_write_records() {
    for (const Record* each = first(); each != nullptr;) {
      const Record* const next = each->next.get();
      delete each;
      each = next;
    }
  }

  static RecordId id_of(const Record& record) noexcept { return record.id.get(); }

  /// The record of the key. Null if there is no memory, or no number, for a new record.
  template <class Key>
  Record* find_or_add(const Key& key) noexcept {
    Record* seen = first();
    if (Record* const found = find(key, seen, nullptr)) {
      return found;
    }
    Record* const made = seen == nullptr || seen->id.get() < WriteStamp::max_record
                             ? new (std::nothrow) Record(key)
                             : nullptr;
    if (made == nullptr) {
      return nullptr;
    }
    link(*made, seen);
    std::uint64_t expected = word_of(seen);
    // Release pairs with load_first: the record is constructed before it is found, or
    // records_are_added_once fails.
    while (!first_.compare_exchange_weak(expected, word_of(made),
                                         sites.at(At::push, std::memory_order::release))) {
      if (expected != word_of(seen)) {
        Record* const now = first();
        if (Record* const found = find(key, now, seen)) {
          delete made;
          return found;
        }
        if (now->id.get() == WriteStamp::max_record) {
          delete made;
          return nullptr;
        }
        seen = now;
        link(*made, seen);
        expected = word_of(seen);
      }
    }
    return made;
  }

  /// Requires the record of a write to the storage.
  const Record& at(RecordId id) const noexcept {
    const Record* each = first();
    while (each->id.get() != id) {
      each = each->next.get();
    }
    return *each;
  }

  /// Marks that `write` is about to be superseded by a write with the record `by`.
  void supersede(WriteStamp write, RecordId by) noexcept {
    if (write == WriteStamp() || write.record() == by) {
      return;  // for this record, a report needs only the storage's last write
    }
    auto& superseded = const_cast<Record&>(at(write.record())).superseded;
    // Relaxed, pairs with nothing: a thread that has loaded the storage's last write finds the
    // writes before it marked (invariant 4).
    std::uint64_t found = superseded.load(sites.at(At::superseded, std::memory_order::relaxed));
    // Relaxed, pairs with nothing: among the stamps of one record, a later stamp is larger. If the
    // compare-exchange were split into a load and a store, later_writes_supersede would fail.
    while (found < write.word() &&
           !superseded.compare_exchange_weak(found, write.word(),
                                             sites.at(At::supersede, std::memory_order::relaxed))) {
    }
  }

  /// Calls `visit(write)` for each superseded write after `observed` and before `last`, in
  /// unspecified order.
  template <class Visit>
  void for_each_between(WriteStamp observed, WriteStamp last, const Visit& visit) const {
    for (const Record* each = first(); each != nullptr; each = each->next.get()) {
      // Relaxed, pairs with nothing: see supersede().
      const WriteStamp write(
          each->superseded.load(sites.at(At::superseded, std::memory_order::relaxed)));
      if (write.generation() > observed.generation() && write.generation() < last.generation()) {
        visit(write);
      }
    }
  }

  /// Calls family.write() with this record, and supersede() for the write before it.
  template <class Family>
  std::optional<WriteStamp> write(Family& family, typename Family::StorageGeneration& storage,
                                  RecordId record) noexcept {
    return family.write(storage, record,
                        [&](WriteStamp write) noexcept { supersede(write, record); });
  }

 private:
  using At = WriteRecordsSite;
  static constexpr const auto& sites = write_records_sites;

  static std::uint64_t word_of(const Record* record) noexcept {
    return reinterpret_cast<std::uintptr_t>(record);
  }
  Record* first() const noexcept {
    // Acquire pairs with push: records in the list are complete, or records_are_added_once fails.
    const std::uint64_t first = first_.load(sites.at(At::load_first, std::memory_order::acquire));
    return reinterpret_cast<Record*>(static_cast<std::uintptr_t>(first));
  }
  static void link(Record& made, Record* next) noexcept {
    made.next.set(next);
    made.id.set(next == nullptr ? 1 : next->id.get() + 1);
  }
  /// Searches the records from `each` on, up to `end`.
  template <class Key>
  static Record* find(const Key& key, Record* each, const Record* end) noexcept {
    while (each != end && !each->origin.is(key)) {
      each = each->next.get();
    }
    return each == end ? nullptr : each;
  }

  typename Sync::template Atomic<std::uint64_t> first_;
};

}  // namespace byre::inline BYRE_ABI::shadow::detail
