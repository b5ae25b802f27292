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

}  // namespace

extern const Scenario tallies_are_added_at_once;
const Scenario tallies_are_added_at_once = scenario<TalliesAreAddedAtOnce>({
    .name = "tallies_are_added_at_once",
    .shows = "A tally loses nothing, whoever adds.",
});

}  // namespace byre::verification
