// SPDX-License-Identifier: BSL-1.0
/// Two or three threads add write records (the origins of the writes to a storage, with the last
/// superseded write of each), supersede writes and read the records at once. A reader that knows of
/// the storage's last write has to find every earlier write, with a complete record. If the push of
/// a record is not a release, or the load of the list is not an acquire, a reader finds an
/// incomplete record.
// The nothrow operator new is Relacy's. g++ does not recognize this, and warns about the delete.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "write_records.hpp"

#include "../search.hpp"

namespace byre::verification {
namespace {

/// Two threads find or add two records, in opposite orders.
class RecordsAreAddedOnce : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"one thread adds both",
                                                      "each thread adds one"};

  void thread(unsigned index) {
    for (const unsigned origin : {index, 1 - index}) {
      found_[index][origin] = records_.find_or_add(origin);
      expect(found_[index][origin]->origin.is(origin), "a record that is found is complete");
    }
  }

  void after() {
    for (const unsigned origin : {0U, 1U}) {
      expect(found_[0][origin] == found_[1][origin], "each origin has one record");
    }
    const RecordId first = Records::id_of(*found_[0][0]);
    const RecordId second = Records::id_of(*found_[0][1]);
    expect(first + second == 3 && first != second, "each record has a number of its own");
    expect(&records_.at(first) == found_[0][0], "at() finds a record by its number");
    cover(first < second ? "one thread adds both" : "each thread adds one");
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
  static constexpr std::string_view cover_points[] = {"the later write came second",
                                                      "the later write came first"};

  LaterWritesSupersede() {
    records_.find_or_add(1U);
    records_.supersede(stamp(1, 1), 2);
  }

  void thread(unsigned index) {
    records_.supersede(stamp(2 + index, 1), 2);
    if (index == 0) {
      const bool is_later_there = Between(records_, stamp(2, 1), stamp(5, 2)).count == 1;
      cover(is_later_there ? "the later write came first" : "the later write came second");
    }
  }

  void after() {
    const Between all(records_, WriteStamp(), stamp(5, 2));
    expect(all.count == 1 && all.of_generation[3] == stamp(3, 1),
           "the later of two superseded writes remains");
    expect(Between(records_, stamp(3, 1), stamp(5, 2)).count == 0, "observed writes are not found");
    expect(Between(records_, WriteStamp(), stamp(3, 1)).count == 0, "the last write is not found");
    records_.supersede(stamp(4, 1), 1);
    expect(Between(records_, stamp(3, 1), stamp(5, 2)).count == 0,
           "a write of the last write's own record is not found");
  }

 private:
  Records records_;
};

/// Two families write after a first family has written. A reader has observed none of these writes.
class SupersededWritesAreFound : StorageWrites<Records> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"finds one", "finds two", "finds three"};

  SupersededWritesAreFound() { expect(!write(first_, 1), "the only writing family is not stale"); }

  void thread(unsigned index) {
    if (index < 2) {
      expect(write(index == 0 ? second_ : third_, 2 + index),
             "a later writer is stale after the first write");
    } else {
      const std::size_t found = look();
      expect(found != 0, "the reader has not observed every write");
      cover(found == 1 ? "finds one" : found == 2 ? "finds two" : "finds three");
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
        "Each origin of writes has one record, although two threads add it: G5.", reduced_search,
        reduced_search),
    scenario<LaterWritesSupersede>("later_writes_supersede",
                                   "The later of two superseded writes of one record remains: G5."),
    scenario<EarlierWritesAreFound<Records>>("earlier_writes_are_found",
                                             "A reader that knows of the last write finds the "
                                             "earlier writes of a family that was not stale: G5.",
                                             reduced_search, reduced_search),
    scenario<SupersededWritesAreFound>(
        "superseded_writes_are_found",
        "A reader that knows of the last write finds the writes that it superseded: G5.", 1, 2),
};

}  // namespace
}  // namespace byre::verification
