// SPDX-License-Identifier: BSL-1.0
#include "failing_copies.hpp"

#include "word_state.hpp"

namespace byre::verification {
namespace {

template <unsigned Owners>
class FailingCopiesOfWord : public FailingCopies<basic_share_word, Owners> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a copy is given up",
      "a copy is given up while the last owner sleeps",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    if (site.name == "share_word.abandon_copy") {
      cover(sleeper_.sleeps() ? "a copy is given up while the last owner sleeps"
                              : "a copy is given up");
    }
    sleeper_.saw(site, value);
  }

 private:
  Sleeper sleeper_;
};

}  // namespace

const Scenario failing_copies = scenario<FailingCopiesOfWord<2>>({
    .name = "failing_copies",
    .shows = "A write whose allocation or copy fails changes nothing, and nobody else notices: "
             "promise 5, I3, I4.",
    .quick = reduced_search,
});

const Scenario three_failing_copies = scenario<FailingCopiesOfWord<3>>({
    .name = "three_failing_copies",
    .shows = "The same of three owners, any of which may fail.",
    .quick = preemptions(1),
    .deep = preemptions(3),
});

const Scenario locked_failing_copies =
    textbook_scenario<FailingCopies<basic_share_lock>>("locked_failing_copies", reduced_search);

}  // namespace byre::verification
