// SPDX-License-Identifier: BSL-1.0
#include "failing_copies.hpp"

namespace byre::verification {
namespace {

class OfWord : public FailingCopies<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a copy is given up",
      "a copy is given up while the last owner waits for it",
  };

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.abandon_copy") {
      cover("a copy is given up");
    } else if (site.name == "share_word.wake_after_abandon") {
      cover("a copy is given up while the last owner waits for it");
    }
  }
};

}  // namespace

extern const Scenario failing_copies;
const Scenario failing_copies = scenario<OfWord>({
    .name = "failing_copies",
    .shows = "A write whose allocation or copy fails changes nothing, and nobody else notices: "
             "promise 5, I3, I4.",
});

extern const Scenario locked_failing_copies;
const Scenario locked_failing_copies = scenario<FailingCopies<basic_share_lock>>({
    .name = "locked_failing_copies",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
