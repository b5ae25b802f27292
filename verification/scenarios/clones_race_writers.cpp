// SPDX-License-Identifier: BSL-1.0
#include "clones_race_writers.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

class ClonesRaceWritersOfWord : public ClonesRaceWriters<basic_share_word, 3> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer keeps the data",
      "the writer copies",
      "data is cloned while it is copied",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.add_owner" && WordState(value).copies != 0) {
      cover("data is cloned while it is copied");
    }
  }
};

}  // namespace

const Scenario clones_race_writers = scenario<ClonesRaceWriters<basic_share_word>>({
    .name = "clones_race_writers",
    .shows = "An owner may clone while another writes; neither notices: promises 1 and 7, I4.",
});

const Scenario clones_race_writers_and_drops = scenario<ClonesRaceWritersOfWord>({
    .name = "clones_race_writers_and_drops",
    .shows = "The same while a third owner lets go.",
    .quick = preemptions(4),
    .deep = preemptions(7),
});

const Scenario locked_clones_race_writers = scenario<ClonesRaceWriters<basic_share_lock>>({
    .name = "locked_clones_race_writers",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
