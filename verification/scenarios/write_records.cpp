// SPDX-License-Identifier: BSL-1.0
/// The records of writes: none is lost to who knows of the storage's last write.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "write_records.hpp"

#include "../search.hpp"

namespace byre::verification {
namespace {

/// Two threads find or add two records, in opposite orders.
class RecordsAreAddedOnce : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"one thread adds both", "each adds one"};

  void thread(unsigned index) {
    for (const unsigned origin : {index, 1 - index}) {
      found_[index][origin] = records_.find_or_add(origin);
      expect(found_[index][origin]->origin.is(origin), "what is found is whole");
    }
  }

  void after() {
    for (const unsigned origin : {0U, 1U}) {
      expect(found_[0][origin] == found_[1][origin], "of each origin there is one record");
    }
    const RecordId first = Records::id_of(*found_[0][0]);
    const RecordId second = Records::id_of(*found_[0][1]);
    expect(first + second == 3 && first != second, "each has its number");
    expect(&records_.at(first) == found_[0][0], "and is found by it");
    cover(first < second ? "one thread adds both" : "each adds one");
  }

 private:
  Records records_;
  Records::Record* found_[threads][2] = {};
};

constexpr WriteStamp stamp(std::uint64_t generation, RecordId record) {
  return WriteStamp((generation << WriteStamp::record_bits) | record);
}

/// Two threads supersede writes of one record.
class LaterWritesSupersede : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the later came later", "it came first"};

  LaterWritesSupersede() {
    records_.find_or_add(1U);
    records_.supersede(stamp(1, 1), 2);
  }

  void thread(unsigned index) {
    records_.supersede(stamp(2 + index, 1), 2);
    if (index == 0) {
      const bool is_later_there = Between(records_, stamp(2, 1), stamp(5, 2)).count == 1;
      cover(is_later_there ? "it came first" : "the later came later");
    }
  }

  void after() {
    const Between all(records_, WriteStamp(), stamp(5, 2));
    expect(all.count == 1 && all.of_generation[3] == stamp(3, 1), "the later of two stays");
    expect(Between(records_, stamp(3, 1), stamp(5, 2)).count == 0, "without what was observed");
    expect(Between(records_, WriteStamp(), stamp(3, 1)).count == 0, "and what is the last");
    records_.supersede(stamp(4, 1), 1);
    expect(Between(records_, stamp(3, 1), stamp(5, 2)).count == 0, "nor what its own record has");
  }

 private:
  Records records_;
};

/// Two families write after a first, and a reader has observed none of these.
class SupersededWritesAreFound : StorageWrites<Records> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"of one write", "of two", "of three"};

  SupersededWritesAreFound() { expect(!write(first_, 1), "who writes alone is not stale"); }

  void thread(unsigned index) {
    if (index < 2) {
      expect(write(index == 0 ? second_ : third_, 2 + index), "a later one is stale of the first");
    } else {
      const std::size_t found = look();
      expect(found != 0, "there is a write that it has not observed");
      cover(found == 1 ? "of one write" : found == 2 ? "of two" : "of three");
    }
  }

 private:
  Family first_;
  Family second_;
  Family third_;
};

const Scenario* const write_records_scenarios[] = {
    scenario<RecordsAreAddedOnce>(
        "records_are_added_once",
        "Of each origin of writes there is one record, whoever adds it: G5.", reduced_search,
        reduced_search),
    scenario<LaterWritesSupersede>("later_writes_supersede",
                                   "Of two superseded writes of one record the later stays: G5."),
    scenario<EarlierWritesAreFound<Records>>(
        "earlier_writes_are_found",
        "Who knows of the last write finds the earlier ones of a family that was not stale: G5.",
        reduced_search, reduced_search),
    scenario<SupersededWritesAreFound>(
        "superseded_writes_are_found",
        "Who knows of the last write finds those that it superseded: G5.", 1, 2),
};

}  // namespace
}  // namespace byre::verification
