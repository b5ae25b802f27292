// SPDX-License-Identifier: BSL-1.0
/// Overwritten: the writes of one storage that others have replaced as its last. A report may be of
/// one of these, where the last write is silenced or an earlier one is to be thrown for.
#pragma once

#include <byre/shadow/overwritten_sites.hpp>
#include <byre/shadow/write_mark.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <new>

namespace byre::inline v0::shadow {

/// A list of places, each with the mark of the last write there that was replaced.
///
/// Invariants:
///   1. Of equal places one is in the list: who pushes has seen all that is there.
///   2. What is in the list stays there, and its mark is only ever replaced by a later one.
/// A write is noted before the one that replaces it is made: so who knows of the storage's last write
/// finds here the last of each other place, unless there was no memory for it.
///
/// Thread-safe; lock-free. Places are few: a look goes through all of them.
template <sync::Sync Sync>
class basic_overwritten {
 public:
  basic_overwritten() noexcept : first_(0) {}
  basic_overwritten(const basic_overwritten&) = delete;
  basic_overwritten& operator=(const basic_overwritten&) = delete;
  ~basic_overwritten() {
    for (const Entry* each = first(); each != nullptr;) {
      const Entry* const next = each->next.get();
      delete each;
      each = next;
    }
  }

  /// The write is about to be replaced by one at another place.
  void note(WriteMark write) noexcept {
    // Acquire pairs with push: places in the list are whole, or places_are_noted_at_once fails.
    std::uint64_t first = first_.load(sites.at(At::look, std::memory_order::acquire));
    if (raise(write, at(first), nullptr)) {
      return;
    }
    auto* const made = new (std::nothrow) Entry(write);
    if (made == nullptr) {
      return;
    }
    made->next.set(at(first));
    std::uint64_t expected = first;
    // Release pairs with look: the place is written before it is found, or places_are_noted_at_once
    // fails.
    while (!first_.compare_exchange_weak(expected, reinterpret_cast<std::uintptr_t>(made),
                                         sites.at(At::push, std::memory_order::release))) {
      if (expected != first) {
        // Acquire pairs with push: what came in between is whole, or places_are_noted_at_once fails.
        expected = first_.load(sites.at(At::look_again, std::memory_order::acquire));
        if (raise(write, at(expected), at(first))) {
          delete made;
          return;
        }
        first = expected;
        made->next.set(at(first));
      }
    }
  }

  /// Calls `visit(write)` for each that came after `known` and before `last`, in no order.
  template <class Visit>
  void for_each_between(WriteMark known, WriteMark last, const Visit& visit) const {
    for (const Entry* each = first(); each != nullptr; each = each->next.get()) {
      const WriteMark write(noted(*each));
      if (write.generation() > known.generation() && write.generation() < last.generation()) {
        visit(write);
      }
    }
  }

 private:
  using At = OverwrittenSite;
  static constexpr const auto& sites = overwritten_sites;

  struct Entry {
    explicit Entry(WriteMark write) noexcept
        : place(write.place()), mark(write.word()), next(nullptr) {}

    typename Sync::template Plain<PlaceId> place;
    typename Sync::template Atomic<std::uint64_t> mark;
    typename Sync::template Plain<Entry*> next;
  };

  static Entry* at(std::uint64_t address) noexcept {
    return reinterpret_cast<Entry*>(static_cast<std::uintptr_t>(address));
  }
  const Entry* first() const noexcept {
    // Acquire pairs with push: places in the list are whole, or places_are_noted_at_once fails.
    return at(first_.load(sites.at(At::look, std::memory_order::acquire)));
  }
  static std::uint64_t noted(const Entry& entry) noexcept {
    // Relaxed, and pairs with nothing: who is told of a write comes after what was noted before it.
    return entry.mark.load(sites.at(At::noted, std::memory_order::relaxed));
  }

  /// Notes it among the entries from `each` on, up to `end`. False if its place is not there.
  static bool raise(WriteMark write, Entry* each, const Entry* end) noexcept {
    for (; each != end; each = each->next.get()) {
      if (each->place.get() == write.place()) {
        std::uint64_t found = noted(*each);
        // Relaxed, and pairs with nothing: of one place the later mark is the larger.
        while (found < write.word() &&
               !each->mark.compare_exchange_weak(found, write.word(),
                                                 sites.at(At::raise, std::memory_order::relaxed))) {
        }
        return true;
      }
    }
    return false;
  }

  typename Sync::template Atomic<std::uint64_t> first_;
};

}  // namespace byre::inline v0::shadow
