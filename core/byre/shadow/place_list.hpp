// SPDX-License-Identifier: BSL-1.0
/// A list of places, each with what is noted of it. Grows, as long as what it belongs to lives.
#pragma once

#include <byre/shadow/place_list_sites.hpp>
#include <byre/shadow/write_mark.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <new>

namespace byre::inline v0::shadow {

/// Invariants:
///   1. Of equal places one is in the list: who pushes has seen all that is there.
///   2. What is in the list stays there.
///
/// Thread-safe as what is noted; lock-free. Places are few: a look goes through all of them.
template <sync::Sync Sync, class Noted>
class basic_place_list {
 public:
  basic_place_list() noexcept : first_(0) {}
  basic_place_list(const basic_place_list&) = delete;
  basic_place_list& operator=(const basic_place_list&) = delete;
  ~basic_place_list() {
    for (const Entry* each = first(); each != nullptr;) {
      const Entry* const next = each->next.get();
      delete each;
      each = next;
    }
  }

  struct Added {
    Noted* noted;  ///< null: there was no memory for it
    bool is_new;
  };

  /// What is noted of the place: `Noted(initial...)` if it is new.
  template <class... Initial>
  Added add(PlaceId place, Initial... initial) noexcept {
    // Acquire pairs with push: places in the list are whole, or places_are_noted_at_once fails.
    std::uint64_t first = first_.load(sites.at(At::look, std::memory_order::acquire));
    if (Noted* const found = find(place, at(first), nullptr)) {
      return {found, false};
    }
    auto* const made = new (std::nothrow) Entry(place, initial...);
    if (made == nullptr) {
      return {nullptr, false};
    }
    made->next.set(at(first));
    std::uint64_t expected = first;
    // Release pairs with look: the place is written before it is found, or places_are_noted_at_once
    // fails.
    while (!first_.compare_exchange_weak(expected, reinterpret_cast<std::uintptr_t>(made),
                                         sites.at(At::push, std::memory_order::release))) {
      if (expected != first) {
        // Acquire pairs with push: what came in between is whole, or places_are_noted_at_once
        // fails.
        expected = first_.load(sites.at(At::look_again, std::memory_order::acquire));
        if (Noted* const found = find(place, at(expected), at(first))) {
          delete made;
          return {found, false};
        }
        first = expected;
        made->next.set(at(first));
      }
    }
    return {&made->noted, true};
  }

  /// Calls `visit(noted)` for each place, in no order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Entry* each = first(); each != nullptr; each = each->next.get()) {
      visit(each->noted);
    }
  }

 private:
  using At = PlaceListSite;
  static constexpr const auto& sites = place_list_sites;

  struct Entry {
    template <class... Initial>
    explicit Entry(PlaceId of, Initial... initial) noexcept
        : place(of), noted(initial...), next(nullptr) {}

    typename Sync::template Plain<PlaceId> place;
    Noted noted;
    typename Sync::template Plain<Entry*> next;
  };

  static Entry* at(std::uint64_t address) noexcept {
    return reinterpret_cast<Entry*>(static_cast<std::uintptr_t>(address));
  }
  const Entry* first() const noexcept {
    // Acquire pairs with push: places in the list are whole, or places_are_noted_at_once fails.
    return at(first_.load(sites.at(At::look, std::memory_order::acquire)));
  }

  /// Among the entries from `each` on, up to `end`.
  static Noted* find(PlaceId place, Entry* each, const Entry* end) noexcept {
    for (; each != end; each = each->next.get()) {
      if (each->place.get() == place) {
        return &each->noted;
      }
    }
    return nullptr;
  }

  typename Sync::template Atomic<std::uint64_t> first_;
};

}  // namespace byre::inline v0::shadow
