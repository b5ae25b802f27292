// SPDX-License-Identifier: BSL-1.0
/// The places at which raw pointers to one storage left: each is counted once.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include <byre/shadow/escaped_places.hpp>
#include <byre/shadow/escapes.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// Pointers leave on two threads, by two lines, in opposite orders.
class EscapesAreCountedOnce {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"one thread is the first at both lines",
                                                      "each is the first at one"};

  void thread(unsigned index) {
    for (const unsigned line : {index, 1 - index}) {
      is_first_[index][line] = escapes_.add(1 + line);
      expect(!escapes_.add(1 + line), "who comes again is not the first");
    }
    expect(escapes_.count() == 1 || escapes_.count() == 2, "there are no more than two lines");
  }

  void after() {
    for (const unsigned line : {0U, 1U}) {
      expect(is_first_[0][line] != is_first_[1][line], "at each line one is the first");
    }
    expect(escapes_.count() == 2, "each line is counted once");
    cover(is_first_[0][0] == is_first_[0][1] ? "one thread is the first at both lines"
                                             : "each is the first at one");
  }

 private:
  shadow::basic_escapes<Checked> escapes_;
  bool is_first_[threads][2] = {};
};

/// Pointers leave on two threads, at two places, in opposite orders, where one begins anew
/// meanwhile.
class EscapedPlacesAreFound {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"one is found by then", "both are"};

  void thread(unsigned index) {
    leave(index);
    if (index == 0) {
      escapes_[1].clear();
    } else {
      const unsigned found = look();
      expect(found == 1 || found == 2, "who counted at a place finds it");
      cover(found == 1 ? "one is found by then" : "both are");
    }
    leave(1 - index);
  }

  void after() {
    expect(look() == 2, "each place is found, and once");
    expect(escapes_[0].count() == 2 && escapes_[1].count() >= 1, "with what is counted there");
  }

 private:
  void leave(unsigned place) {
    expect(places_.note(1 + place, escapes_[place]), "there is memory");
    escapes_[place].add();
  }
  unsigned look() const {
    unsigned found = 0;
    places_.for_each([&](shadow::PlaceId place) {
      expect(place == 1 || place == 2, "what is found is whole");
      ++found;
    });
    return found;
  }

  shadow::basic_escaped_places<Checked> places_;
  shadow::basic_tally<Checked> escapes_[2];
};

}  // namespace

extern const Scenario escaped_places_are_found;
const Scenario escaped_places_are_found = scenario<EscapedPlacesAreFound>({
    .name = "escaped_places_are_found",
    .shows = "A place at which a pointer left is found by who goes through all, and once.",
    .quick = preemptions(4),
    .deep = preemptions(5),
});

extern const Scenario escapes_are_counted_once;
const Scenario escapes_are_counted_once = scenario<EscapesAreCountedOnce>({
    .name = "escapes_are_counted_once",
    .shows = "A line by which pointers leave a storage is counted once, whoever comes by.",
    .quick = preemptions(4),
    .deep = preemptions(5),
});

}  // namespace byre::verification
