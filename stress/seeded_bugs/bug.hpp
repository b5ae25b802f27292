// SPDX-License-Identifier: BSL-1.0
/// The seeded bugs: each is a wrong design, with the race that can show it and who detects it there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "../races/race.hpp"

namespace byre::stress::seeded_bugs {

/// What a sanitizer reports of a bug.
enum class Report : std::uint8_t {
  none,  ///< nothing: no data is accessed wrongly, or none that it watches
  data_race,
  use_after_free,  ///< for ThreadSanitizer also a race with the release, or a mutex that is gone
  leak,
};

struct Bug {
  std::string_view name;
  std::string_view is_wrong_in;
  std::string_view race;
  Race::Run run;            ///< on sync::Boost
  Race::Run run_perturbed;  ///< on Perturbed
  bool shows_itself;        ///< the race's own checks, without a sanitizer, detect it on x86
  Report by_thread_sanitizer;
  Report by_address_sanitizer;  ///< or by LeakSanitizer
};

std::span<const Bug> all_bugs();

}  // namespace byre::stress::seeded_bugs
