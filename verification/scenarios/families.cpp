// SPDX-License-Identifier: BSL-1.0
/// Two or three view families (sets of tensors that observe each other's writes) read and write one
/// storage at once. A family is stale if another family has written the storage and this family has
/// not observed that write (core/byre/shadow/detail/generation.hpp). If two families write, at
/// least one of them has to find the other's write and its complete record, and no write is
/// reported twice. If the exchange of a write is not a release, or the load of the last write is
/// not an acquire, a family reads an incomplete record.
#include <byre/shadow/detail/generation.hpp>

#include <algorithm>
#include <optional>

#include "../search.hpp"

namespace byre::verification {
namespace {

using shadow::detail::RecordId;
using shadow::detail::WriteStamp;

/// A storage, two families, and records that are filled in before they are used.
class Families {
 protected:
  using Family = shadow::detail::basic_family_generation<Checked>;

  /// Even and odd numbers, so that no bit of a record's number is always set.
  static constexpr RecordId records[] = {2, 1, 4};

  void make(unsigned record) { made_[record].set(7); }

  /// Returns the index of the record of `write`. Checks that the record is complete.
  unsigned record_of(WriteStamp write) const {
    for (unsigned record = 0; record < std::size(records); ++record) {
      if (write.record() == records[record]) {
        expect(made_[record].get() == 7, "the record of a write is complete");
        return record;
      }
    }
    expect(false, "a write has the record that it was made with");
    return 0;
  }

  /// Writes the storage through `family`, with the record at index `record`. Returns true if the
  /// family was stale. The write that it had not observed must then have the record at index
  /// `others_record`.
  bool write(Family& family, unsigned record, unsigned others_record) {
    const auto stale = family.write(storage_, records[record], [](WriteStamp) {});
    if (stale) {
      expect(record_of(*stale) == others_record, "the missed write is the other family's");
      family.leave_unread(*stale);
    }
    return stale.has_value();
  }

  /// Returns true if `write` has a value. The write must then have the first record, and the
  /// reading family observes it.
  bool reports(std::optional<WriteStamp> write) {
    if (write) {
      expect(record_of(*write) == 0, "the reported write is the only one");
      reading_.observe_by_reading(*write);
    }
    return write.has_value();
  }

  shadow::detail::basic_storage_generation<Checked> storage_;
  Family writing_;
  Family reading_;

 private:
  Checked::Plain<unsigned> made_[std::size(records)]{
      Checked::Plain<unsigned>(0), Checked::Plain<unsigned>(0), Checked::Plain<unsigned>(0)};
};

/// Two families write, one of them twice.
class FamiliesRace : public TwoThreads, Families {
 public:
  static constexpr std::string_view cover_points[] = {
      "the first write is stale", "the second write is stale", "the other's write is stale",
      "both are stale"};

  void thread(unsigned index) {
    if (index == 0) {
      make(0);
      first_stale_ = write(mine_, 0, 1);
      second_stale_ = write(mine_, 0, 1);
      cover_if(first_stale_, "the first write is stale");
      cover_if(second_stale_, "the second write is stale");
    } else {
      make(1);
      other_stale_ = write(other_, 1, 0);
      cover_if(other_stale_, "the other's write is stale");
    }
  }

  void after() {
    expect(int(first_stale_) + int(second_stale_) + int(other_stale_) >= 1,
           "at least one of two writing families is stale");
    expect(!(first_stale_ && second_stale_), "a write is reported once");
    expect(mine_.stale(storage_).has_value() != other_.stale(storage_).has_value(),
           "the last writer is not stale, and the other is");
    const WriteStamp last =
        std::max(mine_.observed(), other_.observed(),
                 [](WriteStamp a, WriteStamp b) { return a.generation() < b.generation(); });
    expect(last.generation() == 3, "every write has a generation of its own");
    cover_if(other_stale_ && second_stale_, "both are stale");
  }

 private:
  Family mine_;
  Family other_;
  bool first_stale_ = false;
  bool second_stale_ = false;
  bool other_stale_ = false;
};

/// One family writes and another reads. A third family is derived from the reading family before
/// the threads start.
class FamiliesReadAndWrite : public TwoThreads, Families {
 public:
  static constexpr std::string_view cover_points[] = {"a read is stale", "a read is not stale"};

  FamiliesReadAndWrite() : third_(reading_) {}

  void thread(unsigned index) {
    if (index == 0) {
      make(0);
      expect(!write(writing_, 0, 1), "the only writing family is not stale");
      expect(!write(writing_, 0, 1), "a family is not stale after its own writes");
      expect(!writing_.stale(storage_), "a family is not stale after its own writes");
    } else {
      const auto stale = reading_.stale(storage_);
      cover(stale ? "a read is stale" : "a read is not stale");
      expect(!reports(stale) || reading_.observed() == *stale,
             "a family has observed the reported write");
    }
  }

  void after() {
    expect(third_.stale(storage_).has_value(), "a family is stale after a later write");
    expect(!writing_.stale(storage_), "a family is not stale after its own writes");
    reports(reading_.stale(storage_));
    expect(!reading_.stale(storage_), "a family is not stale after a report");
    expect(Family(reading_).observed() == reading_.observed(),
           "a derived family has observed the writes that its source has");
  }

 private:
  Family third_;
};

/// Two tensors of one family read at once while another family writes.
class FamiliesReadAtOnce : Families {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"no read is stale", "one read is stale",
                                                      "both reads are stale"};

  void thread(unsigned index) {
    if (index == 2) {
      make(0);
      expect(!write(writing_, 0, 1), "the only writing family is not stale");
    } else {
      is_stale_[index] = reports(reading_.stale(storage_));
    }
  }

  void after() {
    cover(cover_points[int(is_stale_[0]) + int(is_stale_[1])]);
    expect(reading_.stale(storage_).has_value() == (!is_stale_[0] && !is_stale_[1]),
           "a family is not stale after a report");
  }

 private:
  bool is_stale_[2] = {};
};

/// One family has written the storage, and then a second family has written a part of it. Two
/// tensors of the second family then read the rest at once.
class FamiliesLeaveUnread : public TwoThreads, Families {
 public:
  static constexpr std::string_view cover_points[] = {"both reads report it",
                                                      "one read reports it"};

  FamiliesLeaveUnread() {
    make(0);
    make(1);
    make(2);
    expect(!write(writing_, 0, 1), "the only writing family is not stale");
    expect(write(reading_, 1, 0), "a write after another family's write is stale");
  }

  void thread(unsigned index) { is_reported_[index] = reports(reading_.stale_or_unread(storage_)); }

  void after() {
    expect(is_reported_[0] || is_reported_[1], "a read reports the unread write");
    cover(is_reported_[0] && is_reported_[1] ? "both reads report it" : "one read reports it");
    expect(!reading_.stale_or_unread(storage_),
           "no later read reports it again, or the family's own write");
    expect(!Family(reading_).stale_or_unread(storage_),
           "a derived family has read the writes that its source has");
    expect(write(covering_, 2, 1), "a write after another family's write is stale");
    const auto unread = Family(covering_).stale_or_unread(storage_);
    expect(unread && record_of(*unread) == 1,
           "a derived family has the unread write of its source");
    covering_.forget_unread();
    expect(!covering_.stale_or_unread(storage_),
           "a complete write of the family clears its unread write");
  }

 private:
  Family covering_;
  bool is_reported_[threads] = {};
};

const Scenario* const families_scenarios[] = {
    scenario<FamiliesRace>(
        "families_race",
        "Two families write one storage at once: at least one is stale: G1, G2, G3."),
    scenario<FamiliesReadAndWrite>(
        "families_read_and_write",
        "A family is stale once after another family's write, and never after its own: G2, G3."),
    scenario<FamiliesReadAtOnce>(
        "families_read_at_once",
        "Concurrent reads of one family find the other family's write or none: G2, G3.",
        reduced_search),
    scenario<FamiliesLeaveUnread>(
        "families_leave_unread",
        "A family that wrote a part reports the unread write when it reads the rest: G3, G4."),
};

}  // namespace
}  // namespace byre::verification
