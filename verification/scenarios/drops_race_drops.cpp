// SPDX-License-Identifier: BSL-1.0
#include "drops_race_drops.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class DropsRaceDropsOfWord : public DropsRaceDrops<basic_share_word, Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner finds itself alone",
      "two drops at once: the later one frees",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.drop_alone" && value == 1) {
      cover("the last owner finds itself alone");
    } else if (site.name == "share_word.drop_owner" && value == 0) {
      cover("two drops at once: the later one frees");
    }
  }
};

}  // namespace

const Scenario drops_race_drops = scenario<DropsRaceDropsOfWord<2>>({
    .name = "drops_race_drops",
    .shows = "Data is freed once, by whoever lets go last and after all reads: promises 1 and 4, "
             "I1, I2, I7.",
});

const Scenario three_drops_race = scenario<DropsRaceDropsOfWord<3>>({
    .name = "three_drops_race",
    .shows = "The same with three owners.",
});

const Scenario locked_drops_race_drops =
    textbook_scenario<DropsRaceDrops<basic_share_lock>>("locked_drops_race_drops");

const Scenario locked_three_drops_race = scenario<DropsRaceDrops<basic_share_lock, 3>>({
    .name = "locked_three_drops_race",
    .shows = "The same with three owners.",
});

}  // namespace byre::verification
