// SPDX-License-Identifier: BSL-1.0
/// Escaped places: those at which raw pointers to write left, of whatever storage. They are few among
/// all places, and a summary is of them alone.
#pragma once

#include <byre/shadow/place_list.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/sync/sync.hpp>

namespace byre::inline v0::shadow {

/// Thread-safe; lock-free. Wait-free for a place that is counted already.
template <sync::Sync Sync>
class basic_escaped_places {
 public:
  /// A pointer is about to be counted in `escapes`, which are those of the place. False if there is no
  /// memory for that: who goes through all would not find it.
  bool note(PlaceId place, const basic_tally<Sync>& escapes) noexcept {
    // Of those that find none each adds it, and the list has it once; as after a reset.
    return escapes.count() != 0 || places_.add(place, place).noted != nullptr;
  }

  /// Calls `visit(place)` for each, in no order; also for those that are not counted since a reset.
  template <class Visit>
  void for_each(const Visit& visit) const {
    places_.for_each([&](const Noted& place) { visit(place.get()); });
  }

 private:
  using Noted = typename Sync::template Plain<PlaceId>;

  basic_place_list<Sync, Noted> places_;
};

}  // namespace byre::inline v0::shadow
