// SPDX-License-Identifier: BSL-1.0
/// The planted bugs: each a wrong design, the race that can show it, and who can see it there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "../races/race.hpp"

namespace byre::stress::planted {

/// What a sanitizer makes of a bug.
enum class Report : std::uint8_t {
  none,            ///< it cannot see it: no data is touched wrongly, or not by what it watches
  data_race,       ///< two threads, one of them writing, in no order
  use_after_free,  ///< to ThreadSanitizer also a race with the release, or a mutex that is gone
  leak,
};

struct Bug {
  std::string_view name;
  std::string_view is_wrong_in;
  std::string_view race;
  Race::Run run;            ///< on sync::Boost
  Race::Run run_perturbed;  ///< on Perturbed
  bool shows_itself;        ///< the race's own checks, without a sanitizer, can see it on x86
  Report by_thread_sanitizer;
  Report by_address_sanitizer;  ///< leaks included
};

std::span<const Bug> all_bugs();

}  // namespace byre::stress::planted
