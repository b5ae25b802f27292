// SPDX-License-Identifier: BSL-1.0
/// What is counted for reports, by all threads.
#include <byre/shadow/tally.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// Two threads add, and look at what there is.
class TalliesAreAddedAtOnce {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a look before the other added",
                                                      "a look after the other added"};

  void thread(unsigned) {
    tally_.add();
    const std::uint64_t count = tally_.count();
    expect(count == 1 || count == 2, "who adds has added one, and so has at most the other");
    cover(count == 1 ? "a look before the other added" : "a look after the other added");
  }

  void after() { expect(tally_.count() == 2, "a count afterwards is exact"); }

 private:
  shadow::basic_tally<Checked> tally_;
};

/// One thread adds, and another begins anew.
class TalliesBeginAnew {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"what was added stays",
                                                      "what was added is gone"};

  TalliesBeginAnew() { tally_.add(); }

  void thread(unsigned index) {
    if (index == 0) {
      tally_.add();
    } else {
      tally_.clear();
    }
  }

  void after() {
    const std::uint64_t count = tally_.count();
    expect(count <= 1, "what was counted before is gone, and what is added falls on either side");
    cover(count == 1 ? "what was added stays" : "what was added is gone");
    tally_.clear();
    expect(tally_.count() == 0, "it begins with nothing");
  }

 private:
  shadow::basic_tally<Checked> tally_;
};

}  // namespace

extern const Scenario tallies_begin_anew;
const Scenario tallies_begin_anew = scenario<TalliesBeginAnew>({
    .name = "tallies_begin_anew",
    .shows = "A tally that is cleared has nothing of before, whoever adds.",
});

extern const Scenario tallies_are_added_at_once;
const Scenario tallies_are_added_at_once = scenario<TalliesAreAddedAtOnce>({
    .name = "tallies_are_added_at_once",
    .shows = "A tally loses nothing, whoever adds.",
});

}  // namespace byre::verification
