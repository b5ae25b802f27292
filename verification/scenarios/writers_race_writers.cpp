// SPDX-License-Identifier: BSL-1.0
#include "writers_race_writers.hpp"

namespace byre::verification {
namespace {

class OfWord : public WritersRaceWriters<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner waits for a pending copy",
      "a copy is claimed while another owner is left",
      "the copy ended before the last owner slept",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.claim_copy") {
      cover("a copy is claimed while another owner is left");
    }
    if (site.name == "share_word.still_pending") {
      cover((value >> 32 & 1) != 0 ? "the last owner waits for a pending copy"
                                   : "the copy ended before the last owner slept");
    }
  }
};

/// Waiters look again before they park, and are woken for nothing.
class Restless : public WritersRaceWriters<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {"a waiter is woken for nothing"};

  Restless() {
    Checked::looks_before_parking = 1;
    Execution::current().allow_spurious_returns(1);
  }
  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.park") {
      cover(parked_ ? "a waiter is woken for nothing" : "a waiter parks");
      parked_ = true;
    }
  }

 private:
  bool parked_ = false;
};

}  // namespace

extern const Scenario writers_race_writers;
const Scenario writers_race_writers = scenario<OfWord>({
    .name = "writers_race_writers",
    .shows = "Two owners that write make one copy and one steal, and keep what they wrote: "
             "promises 1 and 3, I4, I5, I6.",
});

extern const Scenario restless_writers_race_writers;
const Scenario restless_writers_race_writers = scenario<Restless>({
    .name = "restless_writers_race_writers",
    .shows = "The same where waiters look again before they park, and wake for nothing: I3.",
});

extern const Scenario locked_writers_race_writers;
const Scenario locked_writers_race_writers = scenario<WritersRaceWriters<basic_share_lock>>({
    .name = "locked_writers_race_writers",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
