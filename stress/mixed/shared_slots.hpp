// SPDX-License-Identifier: BSL-1.0
/// Storages that all threads share. They are read and cloned, never written: const operations on one
/// storage may run at once, from its first clone on.
#pragma once

#include <array>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/shared_mutex.hpp>
#include <cstddef>
#include <utility>

#include "../content/content.hpp"

namespace byre::stress {

/// Thread-safe. Who replaces a storage has its place alone for that moment; all others share it.
template <class Storage>
class Board {
 public:
  struct Posted {
    Storage storage;
    Content expected;
  };

  static constexpr std::size_t places = 8;

  /// A handle, to be read and cloned while others do the same and the place may get another.
  Posted look(std::size_t at) {
    Place& place = place_of(at);
    const boost::shared_lock<boost::shared_mutex> lock(place.mutex);
    return place.posted;
  }

  /// `clone(storage)` is called on the one handle that all share.
  template <class Clone>
  Posted clone(std::size_t at, Clone clone) {
    Place& place = place_of(at);
    const boost::shared_lock<boost::shared_mutex> lock(place.mutex);
    return {clone(std::as_const(place.posted.storage)), place.posted.expected};
  }

  /// Returns what was there before, to be released without the lock.
  Posted put(std::size_t at, Posted posted) {
    Place& place = place_of(at);
    const boost::unique_lock<boost::shared_mutex> lock(place.mutex);
    std::swap(place.posted, posted);
    return posted;
  }

  /// While nobody else uses it.
  template <class Visit>
  void for_each(Visit visit) {
    for (Place& place : places_) {
      if (place.posted.storage) {
        visit(place.posted);
      }
    }
  }

 private:
  struct Place {
    boost::shared_mutex mutex;
    Posted posted;
  };

  Place& place_of(std::size_t at) noexcept { return places_[at % places]; }

  std::array<Place, places> places_;
};

}  // namespace byre::stress
