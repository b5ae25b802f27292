// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/intern_table.hpp>
#include <byre/shadow/place.hpp>
#include <byre/shadow/trail.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::shadow {
namespace {

using Steps = basic_intern_table<sync::Boost, detail::TrailStep, 16384, most_trails>;

Steps& steps() noexcept {
  return sync::no_destructor<Steps>();
}

std::size_t hash_of(const detail::TrailStep& step) noexcept {
  const std::uint64_t mixed = (std::uint64_t{step.before} << 32 | step.place) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(mixed >> 32);
}

}  // namespace

detail::TrailStep detail::last_step(TrailId trail) noexcept {
  return steps().at(trail);
}

TrailId trail_with(TrailId trail, const CallSite& site,
                   std::span<const std::int64_t> sizes) noexcept {
  const PlaceId added = place_id({.site = site, .shape = Shape(sizes)});
  if (added == 0) {
    return trail | other_lines;
  }
  // By falling numbers, so that whatever the order in which pointers leave, the trail is one.
  std::array<PlaceId, most_lines_of_trail> after{};
  std::size_t count = 0;
  TrailId longer = trail & ~other_lines;
  while (longer != 0) {
    const detail::TrailStep step = detail::last_step(longer);
    if (step.place <= added) {
      break;
    }
    after[count++] = step.place;
    longer = step.before;
  }
  std::size_t lines = count;
  for_each_place(longer, [&](PlaceId) { ++lines; });
  if (longer != 0 && detail::last_step(longer).place == added) {
    return trail;
  }
  if (lines == most_lines_of_trail) {
    return trail | other_lines;
  }
  const auto extend = [&longer](PlaceId place) noexcept {
    const detail::TrailStep step{longer, place};
    longer = steps().number_of(step, hash_of(step));
    return longer != 0;
  };
  bool has_room = extend(added);
  while (has_room && count != 0) {
    has_room = extend(after[--count]);
  }
  return has_room ? longer | (trail & other_lines) : trail | other_lines;
}

}  // namespace byre::inline v0::shadow
