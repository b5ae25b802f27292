// SPDX-License-Identifier: BSL-1.0
/// Generations: how view families that share a storage find out that another of them wrote it.
///
/// The storage has the mark of its last write, each family the mark of the last write it knows of. A
/// family that accesses the storage and knows of its last write agrees with it. If it does not, some
/// other family wrote since: with copies in place of aliases it would not see that write, and would see
/// other values. A write that agrees becomes the storage's last write in the same step, so that of two
/// families that write at once one is told of the other.
///
/// Invariants:
///   1. The storage's mark has as many generations as there were writes: no two writes have one mark.
///   2. A family knows of a mark that the storage had: of its own last write, of a write that it was
///      told of, or of what the family knew that it came from.
///   3. A family whose mark is the storage's wrote last, was told of the last write, or came from one
///      of which that is true.
///   4. What a family has not read is the last write that it was told of where it was about to write
///      itself, until it is told of a write where it reads, or writes all there is.
///   5. What a family remembers of a silenced read is where that was, and of which write.
/// So a write that nobody is told of was the storage's next after all that its family knew.
///
/// Source: the seed "Copy-on-write motivation", whose two counters are here one comparison.
#pragma once

#include <byre/shadow/generation_sites.hpp>
#include <byre/shadow/write_mark.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <optional>

namespace byre::inline v0::shadow {

template <sync::Sync Sync>
class basic_family_generation;

/// Of who does not keep what a write replaces.
struct KeepNothing {
  constexpr void operator()(WriteMark) const noexcept {}
};

/// Of a storage: the mark of its last write. Thread-safe; lock-free.
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

/// Of a view family: the mark of the last write it knows of, and of one that it has not read.
/// Thread-safe as the tensors of the family are: reads at once, a write alone; whatever other families
/// do. Lock-free; a read that agrees and a write that agrees are wait-free but for spurious failures.
template <sync::Sync Sync>
class basic_family_generation {
 public:
  using StorageGeneration = basic_storage_generation<Sync>;

  basic_family_generation() noexcept : known_(0), unread_(0), silenced_(0) {}
  /// Of a family that a reshape made out of `origin`: it knows what that knows, and has not read what
  /// that has not.
  explicit basic_family_generation(const basic_family_generation& origin) noexcept
      : known_(origin.known().word()), unread_(origin.unread().word()), silenced_(0) {}
  basic_family_generation& operator=(const basic_family_generation&) = delete;

  WriteMark known() const noexcept {
    // Relaxed, and pairs with nothing: see the table.
    return WriteMark(known_.load(sites.at(At::known, std::memory_order::relaxed)));
  }

  /// Nothing if the family agrees with the storage, else the write it does not know of.
  std::optional<WriteMark> unknown_write(const StorageGeneration& storage) const noexcept {
    const WriteMark last = look(storage);
    return last == known() ? std::nullopt : std::optional(last);
  }

  /// Of the storage's last write, if the family knows of it, else 0.
  PlaceId last_place(const StorageGeneration& storage) const noexcept {
    // Not that of known() as such, of which a family that came out of another may have no more than
    // the number.
    const WriteMark last = look(storage);
    return last == known() ? last.place() : 0;
  }

  /// Nothing if the family knows of all writes and of none that it has not read, else that write.
  std::optional<WriteMark> unread_write(const StorageGeneration& storage) const noexcept {
    if (const auto unknown = unknown_write(storage)) [[unlikely]] {
      return unknown;
    }
    const WriteMark left = unread();
    return left == WriteMark() ? std::nullopt : std::optional(left);
  }

  /// The family was told of this write: it agrees again, unless there was another.
  void learn(WriteMark write) noexcept {
    // Relaxed, and pairs with nothing: see the table.
    known_.store(write.word(), sites.at(At::learn, std::memory_order::relaxed));
  }
  /// The same where it reads: there is nothing any more that it has not read. What it was told of may
  /// be older than what it knows, by then or by another read at once.
  void learn_by_reading(WriteMark write) noexcept {
    if (write.generation() > known().generation()) {
      learn(write);
    }
    forget_unread();
  }
  /// The same where it is about to write: it has not read `left`, which is this write or an earlier.
  void learn_by_writing(WriteMark write, WriteMark left) noexcept {
    learn(write);
    // Relaxed, and pairs with nothing: see the table.
    unread_.store(left.word(), sites.at(At::leave_unread, std::memory_order::relaxed));
  }
  /// It wrote over all that it had not read, or has been told.
  void forget_unread() noexcept {
    // Relaxed, and pairs with nothing: see the table.
    unread_.store(nothing, sites.at(At::forget_unread, std::memory_order::relaxed));
  }

  /// What it was told of where it wrote, and has not read; none if it has.
  WriteMark unread() const noexcept {
    // Relaxed, and pairs with nothing: see the table.
    return WriteMark(unread_.load(sites.at(At::unread, std::memory_order::relaxed)));
  }

  /// A read at `place` that was to be told of `write` was silenced; 0 if it would be anywhere.
  void silence_read(WriteMark write, PlaceId place) noexcept {
    // Release pairs with silenced_read: what was said of the place comes first, or
    // families_are_silenced fails.
    silenced_.store(WriteMark((write.generation() << WriteMark::place_bits) | place).word(),
                    sites.at(At::silence_read, std::memory_order::release));
  }
  /// What silence_read was told last, if it was of this write.
  std::optional<PlaceId> silenced_read(WriteMark write) const noexcept {
    // Acquire pairs with silence_read: the place is found, or families_are_silenced fails.
    const WriteMark last(silenced_.load(sites.at(At::silenced_read, std::memory_order::acquire)));
    return last.generation() == write.generation() ? std::optional(last.place()) : std::nullopt;
  }

  /// Writes at `place`, at most WriteMark::max_place, if the family agrees, and then knows of that. Else
  /// nothing changed, and the answer is the write it does not know of.
  std::optional<WriteMark> write(StorageGeneration& storage, PlaceId place) noexcept {
    const WriteMark before = known();
    std::uint64_t found = before.word();
    // Release pairs with look: what was said of the place comes first, or families_race fails. Again
    // where it failed spuriously.
    while (!storage.last_.compare_exchange_weak(found, after(before, place).word(),
                                                sites.at(At::write, std::memory_order::release))) {
      if (found != before.word()) {
        // Acquire pairs with the writes: the place of the other is found, or families_race fails.
        return WriteMark(storage.last_.load(sites.at(At::look_again, std::memory_order::acquire)));
      }
    }
    learn(after(before, place));
    return std::nullopt;
  }

  /// Writes at `place` after `known_write`, and whatever came since. The family knows of all that.
  /// Calls `replaces(write)` before each write that it might replace.
  template <class Replaces = KeepNothing>
  void write_anyway(StorageGeneration& storage, WriteMark known_write, PlaceId place,
                    const Replaces& replaces = {}) noexcept {
    std::uint64_t found = known_write.word();
    replaces(known_write);
    // Release pairs with look: what was said of the place comes first, or families_disagree_twice
    // fails.
    while (!storage.last_.compare_exchange_weak(
        found, after(WriteMark(found), place).word(),
        sites.at(At::write_anyway, std::memory_order::release))) {
      replaces(WriteMark(found));
    }
    learn(after(WriteMark(found), place));
  }

 private:
  using At = GenerationSite;
  static constexpr const auto& sites = generation_sites;
  static constexpr std::uint64_t nothing = WriteMark().word();
  static constexpr auto step = Sync::value_of(generation_constants.at(GenerationConstant::step));

  /// The write after `mark`, made at `place`.
  static WriteMark after(WriteMark mark, PlaceId place) noexcept {
    return WriteMark(((mark.generation() << WriteMark::place_bits) + step) | place);
  }

  static WriteMark look(const StorageGeneration& storage) noexcept {
    // Acquire pairs with the writes: who is told of one finds its place, or
    // families_read_and_write fails.
    return WriteMark(storage.last_.load(sites.at(At::look, std::memory_order::acquire)));
  }

  typename Sync::template Atomic<std::uint64_t> known_;
  typename Sync::template Atomic<std::uint64_t> unread_;
  typename Sync::template Atomic<std::uint64_t> silenced_;
};

using StorageGeneration = basic_storage_generation<sync::Boost>;
using FamilyGeneration = basic_family_generation<sync::Boost>;

}  // namespace byre::inline v0::shadow
