// SPDX-License-Identifier: BSL-1.0
/// The records of the writes to one storage: where they were made, and the last superseded write of
/// each. A report may be of a superseded write, where the storage's last write is suppressed or an
/// earlier one is to be thrown for.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <new>
#include <optional>

namespace byre::inline v0::shadow::detail {

enum class WriteRecordsSite : std::uint8_t { load_first, push, superseded, supersede };

inline constexpr sync::SiteTable<WriteRecordsSite, 4> write_records_sites{{{
    {"write_records.load_first", sync::Operation::load, std::memory_order::acquire},
    {"write_records.push", sync::Operation::compare_exchange, std::memory_order::release},
    {"write_records.superseded", sync::Operation::load, std::memory_order::relaxed},
    {"write_records.supersede", sync::Operation::compare_exchange, std::memory_order::relaxed},
}}};

/// A list of records, each with an Origin: constructed of a key, and `origin.is(key)`.
///
/// Invariants:
///   1. Of equal origins one is in the list, and numbers are in the order of the list.
///   2. What is in the list stays there while the storage lives.
///   3. The superseded write of a record is replaced by later ones alone.
///   4. A write is superseded before the one that replaces it as the storage's last is made. So who
///      knows of the storage's last write finds here the last write of every other record.
///
/// Thread-safe; lock-free. Records are few: a search goes through all of them.
template <sync::Sync Sync, class Origin>
class basic_write_records {
 public:
  struct Record {
    template <class Key>
    explicit Record(const Key& key) noexcept : origin(key) {}

    Origin origin;
    /// The family that wrote last, as StorageShadow numbers it.
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

  /// Null if there is no memory, or no number, for a new one.
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
    // Release pairs with load_first: the record is written before it is found, or records_are_added_once
    // fails.
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

  /// Of a write to the storage.
  const Record& at(RecordId id) const noexcept {
    const Record* each = first();
    while (each->id.get() != id) {
      each = each->next.get();
    }
    return *each;
  }

  /// The write is about to be superseded by one with the record `by`.
  void supersede(WriteStamp write, RecordId by) noexcept {
    if (write == WriteStamp() || write.record() == by) {
      return;  // of one record the storage's last write says all there is to say
    }
    auto& superseded = const_cast<Record&>(at(write.record())).superseded;
    // Relaxed, and pairs with nothing: who observes a write comes after what it supersedes.
    std::uint64_t found = superseded.load(sites.at(At::superseded, std::memory_order::relaxed));
    // Relaxed, and pairs with nothing: of one record the later stamp is the larger. As two steps,
    // later_writes_supersede fails.
    while (found < write.word() &&
           !superseded.compare_exchange_weak(found, write.word(),
                                             sites.at(At::supersede, std::memory_order::relaxed))) {
    }
  }

  /// Calls `visit(write)` for each superseded write after `observed` and before `last`, in no order.
  template <class Visit>
  void for_each_between(WriteStamp observed, WriteStamp last, const Visit& visit) const {
    for (const Record* each = first(); each != nullptr; each = each->next.get()) {
      // Relaxed, and pairs with nothing: who observes a write comes after what it supersedes.
      const WriteStamp write(
          each->superseded.load(sites.at(At::superseded, std::memory_order::relaxed)));
      if (write.generation() > observed.generation() && write.generation() < last.generation()) {
        visit(write);
      }
    }
  }

  /// Family::write, of a write with this record.
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
    // Acquire pairs with push: records in the list are whole, or records_are_added_once fails.
    const std::uint64_t first = first_.load(sites.at(At::load_first, std::memory_order::acquire));
    return reinterpret_cast<Record*>(static_cast<std::uintptr_t>(first));
  }
  static void link(Record& made, Record* next) noexcept {
    made.next.set(next);
    made.id.set(next == nullptr ? 1 : next->id.get() + 1);
  }
  /// Among the records from `each` on, up to `end`.
  template <class Key>
  static Record* find(const Key& key, Record* each, const Record* end) noexcept {
    while (each != end && !each->origin.is(key)) {
      each = each->next.get();
    }
    return each == end ? nullptr : each;
  }

  typename Sync::template Atomic<std::uint64_t> first_;
};

}  // namespace byre::inline v0::shadow::detail
