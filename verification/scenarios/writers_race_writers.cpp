// SPDX-License-Identifier: BSL-1.0
#include "writers_race_writers.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

class WritersRaceWritersOfWord : public WritersRaceWriters<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner waits for a pending copy",
      "the copy ended before the last owner slept",
      "the last copy wakes the last owner",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    sleeper_.saw(site, value);
    if (site.name == "share_word.still_pending") {
      cover(sleeper_.sleeps() ? "the last owner waits for a pending copy"
                              : "the copy ended before the last owner slept");
    } else if (site.name == "share_word.wake_after_copy") {
      cover("the last copy wakes the last owner");
    }
  }

 private:
  Sleeper sleeper_;
};

template <unsigned Writers>
class OfMany : public WritersRaceWriters<basic_share_word, Writers> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner waits for two pending copies",
      "one of two copies ends while the last owner sleeps",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    sleeper_.saw(site, value);
    const WordState now(value);
    if (site.name == "share_word.still_pending" && now.copies >= 2) {
      cover("the last owner waits for two pending copies");
    }
    if (site.name == "share_word.finish_copy" && sleeper_.sleeps() && now.copies != 0) {
      cover("one of two copies ends while the last owner sleeps");
    }
  }

 private:
  Sleeper sleeper_;
};

/// Waiters spin before they park, and are woken spuriously.
class Restless : public WritersRaceWriters<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {"a waiter is woken spuriously"};

  Restless() { Checked::spin_limit = 1; }
  ~Restless() { Checked::spin_limit = 0; }

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.park") {
      cover(parked_ ? "a waiter is woken spuriously" : "a waiter parks");
      parked_ = true;
    }
  }

 private:
  bool parked_ = false;
};

}  // namespace

const Scenario writers_race_writers = scenario<WritersRaceWritersOfWord>({
    .name = "writers_race_writers",
    .shows = "Two owners that write make one copy, and keep what they wrote: promises 1 and 3, I4, "
             "I5, I6.",
});

const Scenario three_writers_race = scenario<OfMany<3>>({
    .name = "three_writers_race",
    .shows = "Three owners that write make two copies: promise 3, I6.",
    .quick = preemptions(3),
    .deep = preemptions(6),
});

const Scenario four_writers_race = scenario<OfMany<4>>({
    .name = "four_writers_race",
    .shows = "Four owners that write make three copies: promise 3, I6.",
    .quick = preemptions(2),
    .deep = preemptions(3),
});

const Scenario restless_writers_race_writers = scenario<Restless>({
    .name = "restless_writers_race_writers",
    .shows = "The same where waiters spin before they park, and wake spuriously: I3.",
});

const Scenario locked_writers_race_writers =
    textbook_scenario<WritersRaceWriters<basic_share_lock>>("locked_writers_race_writers");

const Scenario locked_three_writers_race =
    textbook_scenario<WritersRaceWriters<basic_share_lock, 3>>("locked_three_writers_race",
                                                               preemptions(3), preemptions(5));

}  // namespace byre::verification
