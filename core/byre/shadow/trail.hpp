// SPDX-License-Identifier: BSL-1.0
/// Trails: by which lines raw pointers to write left a storage before a watched reshape met it. Storages
/// that were filled by the same lines have the same trail, whose number is all that each keeps.
#pragma once

#include <byre/error/call_site.hpp>
#include <byre/shadow/write_mark.hpp>

#include <cstdint>
#include <span>

namespace byre::inline v0::shadow {

using TrailId = std::uint32_t;

/// Nobody left.
inline constexpr TrailId no_trail = 0;
inline constexpr TrailId most_trails = TrailId{1} << 20;
/// Lines that a trail tells apart; those after them are one that is not known.
inline constexpr unsigned most_lines_of_trail = 32;

/// The number of the trail that has this line too, of an access to a tensor of these sizes; `trail`
/// itself if it has. If there is no memory for it, or there are most_trails others, the line is not in
/// it, but of one without any it is another: of a line that is not known. Thread-safe; lock-free for a
/// place that was met before, unless backtraces are kept.
TrailId trail_with(TrailId trail, const CallSite& site,
                   std::span<const std::int64_t> sizes) noexcept;

/// Calls `visit(place)` for each line, the last first; 0 for one that is not known. Thread-safe;
/// wait-free but for what it calls.
template <class Visit>
void for_each_place(TrailId trail, const Visit& visit);

namespace detail {

struct TrailStep {
  TrailId before = no_trail;
  PlaceId place = 0;
  friend bool operator==(const TrailStep&, const TrailStep&) noexcept = default;
};
TrailStep last_step(TrailId trail) noexcept;

}  // namespace detail

template <class Visit>
void for_each_place(TrailId trail, const Visit& visit) {
  while (trail != no_trail) {
    const detail::TrailStep step = detail::last_step(trail);
    visit(step.place);
    trail = step.before;
  }
}

}  // namespace byre::inline v0::shadow
