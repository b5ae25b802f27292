// SPDX-License-Identifier: BSL-1.0
/// Escapes: the places at which raw pointers to write to one storage left.
#pragma once

#include <byre/shadow/place_list.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::shadow {

/// Thread-safe; lock-free.
template <sync::Sync Sync>
class basic_escapes {
 public:
  /// One left there. False if one did before. Without memory it counts as one that did not: counted
  /// again rather than never.
  bool add(PlaceId place) noexcept {
    const auto [known, is_new] = places_.add(place);
    if (known != nullptr && !is_new) {
      return false;
    }
    count_.add();
    return true;
  }

  /// How many places there are.
  std::uint64_t count() const noexcept { return count_.count(); }

 private:
  struct Nothing {};

  basic_place_list<Sync, Nothing> places_;
  basic_tally<Sync> count_;
};

}  // namespace byre::inline v0::shadow
