// SPDX-License-Identifier: BSL-1.0
#include "later_copiers_free.hpp"

namespace byre::verification {
namespace {

class LaterCopiersFreeOfWord : public LaterCopiersFree<basic_share_word> {
 public:
  static constexpr std::string_view cover_points[] = {"a stealer that had waited clones"};

  void saw(const sync::Site& site, std::uint64_t) {
    if (site.name == "share_word.stop_waiting") {
      waited_ = true;
    } else if (site.name == "share_word.add_owner" && waited_) {
      cover("a stealer that had waited clones");
    }
  }

 private:
  bool waited_ = false;
};

}  // namespace

const Scenario later_copiers_free = scenario<LaterCopiersFreeOfWord>({
    .name = "later_copiers_free",
    .shows = "A steal leaves the data as new: later owners copy, drop and free as the first did: "
             "I3, I7.",
});

const Scenario locked_later_copiers_free = scenario<LaterCopiersFree<basic_share_lock>>({
    .name = "locked_later_copiers_free",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
