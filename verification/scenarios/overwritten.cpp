// SPDX-License-Identifier: BSL-1.0
/// The writes that others have replaced: none is lost to who knows of the last.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "overwritten.hpp"

#include "../search.hpp"

namespace byre::verification {
namespace {

constexpr WriteMark mark(std::uint64_t generation, PlaceId place) {
  return WriteMark((generation << WriteMark::place_bits) | place);
}

constexpr WriteMark first_of_all;
constexpr WriteMark later_than_all = mark(9, 0);

/// Two threads note two places, in opposite orders, of which each has the later write of one.
class PlacesAreNotedAtOnce {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"both were there", "one was there"};

  void thread(unsigned index) {
    if (index == 0) {
      overwritten_.note(mark(1, 2));
      overwritten_.note(mark(3, 1));
    } else {
      overwritten_.note(mark(2, 1));
      const std::size_t noted = Between(overwritten_, first_of_all, later_than_all).count;
      expect(noted == 1 || noted == 2, "of each place there is one");
      cover(noted == 2 ? "both were there" : "one was there");
      overwritten_.note(mark(4, 2));
    }
  }

  void after() {
    const Between all(overwritten_, first_of_all, later_than_all);
    expect(
        all.count == 2 && all.of_generation[3] == mark(3, 1) && all.of_generation[4] == mark(4, 2),
        "each place has the last write there");
    expect(Between(overwritten_, mark(3, 1), later_than_all).count == 1, "without those before");
    expect(Between(overwritten_, first_of_all, mark(4, 2)).count == 1, "and those after");
  }

 private:
  Overwritten overwritten_;
};

/// Two threads note writes of a place that is there.
class LaterWritesAreNoted {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"the later came later", "it came first"};

  LaterWritesAreNoted() { overwritten_.note(mark(1, 1)); }

  void thread(unsigned index) {
    overwritten_.note(mark(2 + index, 1));
    if (index == 0) {
      const bool is_later_there = Between(overwritten_, mark(2, 1), later_than_all).count == 1;
      cover(is_later_there ? "it came first" : "the later came later");
    }
  }

  void after() {
    const Between all(overwritten_, first_of_all, later_than_all);
    expect(all.count == 1 && all.of_generation[3] == mark(3, 1), "the later of two is noted");
  }

 private:
  Overwritten overwritten_;
};

/// Two families write after a first, and a reader knows of none of these.
class OverwrittenWritesAreFound : StorageWrites<shadow::basic_storage_writes> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"of one write", "of two", "of three"};

  OverwrittenWritesAreFound() { expect(!write(first_, 1), "who writes alone is told of none"); }

  void thread(unsigned index) {
    if (index < 2) {
      expect(write(index == 0 ? second_ : third_, 2 + index), "a later one is told of the first");
    } else {
      const std::size_t found = look();
      expect(found != 0, "there is a write that it does not know of");
      cover(found == 1 ? "of one write" : found == 2 ? "of two" : "of three");
    }
  }

 private:
  Family first_;
  Family second_;
  Family third_;
};

}  // namespace

extern const Scenario places_are_noted_at_once;
const Scenario places_are_noted_at_once = scenario<PlacesAreNotedAtOnce>({
    .name = "places_are_noted_at_once",
    .shows = "Of each place whose writes were replaced the last is noted, whoever notes: G6.",
    .quick = preemptions(4),
    .deep = preemptions(6),
});

extern const Scenario later_writes_are_noted;
const Scenario later_writes_are_noted = scenario<LaterWritesAreNoted>({
    .name = "later_writes_are_noted",
    .shows = "Of two writes of a place the later is noted: G6.",
});

extern const Scenario agreeing_writes_are_found;
const Scenario agreeing_writes_are_found =
    scenario<AgreeingWritesAreFound<shadow::basic_storage_writes>>({
        .name = "agreeing_writes_are_found",
        .shows = "Who is told of the last write finds those before it that their families agreed "
                 "to: G6.",
        .quick = preemptions(2),
        .deep = preemptions(3),
    });

extern const Scenario overwritten_writes_are_found;
const Scenario overwritten_writes_are_found = scenario<OverwrittenWritesAreFound>({
    .name = "overwritten_writes_are_found",
    .shows = "Who is told of the last write finds those that it replaced: G6.",
    .quick = preemptions(2),
    .deep = preemptions(3),
});

}  // namespace byre::verification
