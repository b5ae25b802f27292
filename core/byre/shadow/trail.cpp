// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/intern_table.hpp>
#include <byre/shadow/place.hpp>
#include <byre/shadow/trail.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/immortal.hpp>

#include <cstddef>

namespace byre::inline v0::shadow {
namespace {

using Steps = basic_intern_table<sync::Boost, detail::TrailStep, 4096, most_trails>;

Steps& steps() noexcept {
  return sync::immortal<Steps>();
}

/// Of one line that is not known.
constexpr TrailId unknown_trail = most_trails + 1;

std::size_t hash_of(const detail::TrailStep& step) noexcept {
  return (std::size_t{step.before} * 0x9e3779b1) ^ step.place;
}

}  // namespace

detail::TrailStep detail::last_step(TrailId trail) noexcept {
  return trail == unknown_trail ? TrailStep{} : steps().at(trail);
}

TrailId trail_with(TrailId trail, const CallSite& site,
                   std::span<const std::int64_t> sizes) noexcept {
  unsigned lines = 0;
  bool has_it = false;
  PlaceId added = place_id({.site = site, .shape = Shape(sizes)});
  for_each_place(trail, [&](PlaceId each) {
    ++lines;
    has_it = has_it || each == added || each == 0;
  });
  if (has_it) {
    return trail;
  }
  if (lines + 1 == most_lines_of_trail) {
    added = 0;
  }
  const detail::TrailStep step{trail, added};
  const TrailId longer = steps().number_of(step, hash_of(step));
  return longer != 0 ? longer : trail != no_trail ? trail : unknown_trail;
}

}  // namespace byre::inline v0::shadow
