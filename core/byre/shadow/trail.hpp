// SPDX-License-Identifier: BSL-1.0
/// Trails: by which lines raw pointers to write left a storage before a watched reshape met it. Storages
/// that were filled by the same lines, in whatever order, have the same trail, whose number is all that
/// each keeps. Trails are kept for good, each once.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/shadow/write_mark.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace byre::inline v0::shadow {

/// Of 22 bits; 0 if nobody left. One is set if there are other lines: those that are not known, came
/// after most_lines_of_trail, or found no memory or no number for a trail.
using TrailId = std::uint32_t;
inline constexpr TrailId most_trails = TrailId{1} << 20;
inline constexpr TrailId other_lines = TrailId{1} << 21;

/// Lines that a trail tells apart.
inline constexpr std::size_t most_lines_of_trail = 31;

/// The trail that has this line too, of an access to a tensor of these sizes. Thread-safe; lock-free for
/// a place that was met before, unless backtraces are kept.
TrailId trail_with(TrailId trail, const CallSite& site,
                   std::span<const std::int64_t> sizes) noexcept;

namespace detail {

/// The last line of a trail, by the numbers of their places, and the trail of the others.
struct TrailStep {
  TrailId before = 0;
  PlaceId place = 0;
  friend bool operator==(const TrailStep&, const TrailStep&) noexcept = default;
};
/// Wait-free.
TrailStep last_step(TrailId trail) noexcept;

}  // namespace detail

/// Calls `visit(place)` for each line, and with 0 for all other lines. Thread-safe; wait-free but for
/// what it calls.
template <class Visit>
void for_each_place(TrailId trail, const Visit& visit) {
  if ((trail & other_lines) != 0) {
    visit(PlaceId{0});
  }
  for (trail &= ~other_lines; trail != 0;) {
    const detail::TrailStep step = detail::last_step(trail);
    visit(step.place);
    trail = step.before;
  }
}

}  // namespace byre::inline v0::shadow
