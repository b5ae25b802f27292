// SPDX-License-Identifier: BSL-1.0
#include "drops_race_copies.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

class DropsRaceCopiesOfWord : public DropsRaceCopies<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the last owner drops while a copy is pending",
      "the copier is the last, and frees",
      "the writer keeps the data",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    DropsRaceCopies::saw(site, value);
    const WordState now(value);
    if (site.name == "share_word.drop_owner" && now.owners == 0 && now.copies == 1) {
      cover("the last owner drops while a copy is pending");
    } else if (site.name == "share_word.finish_copy" && value == 0) {
      cover("the copier is the last, and frees");
    }
  }
};

}  // namespace

const Scenario drops_race_copies = scenario<DropsRaceCopiesOfWord>({
    .name = "drops_race_copies",
    .shows = "A drop never waits for a copy under way; whichever ends last frees, after all reads: "
             "promise 4, I1, I2.",
});

const Scenario two_drops_race_a_copy = scenario<DropsRaceCopies<basic_share_word, 2>>({
    .name = "two_drops_race_a_copy",
    .shows = "The same with two drops.",
});

const Scenario locked_drops_race_copies = scenario<DropsRaceCopies<basic_share_lock>>({
    .name = "locked_drops_race_copies",
    .shows = "The same of the textbook form.",
});

const Scenario locked_two_drops_race_a_copy = scenario<DropsRaceCopies<basic_share_lock, 2>>({
    .name = "locked_two_drops_race_a_copy",
    .shows = "The same with two drops.",
    .quick = preemptions(4),
});

}  // namespace byre::verification
