// SPDX-License-Identifier: BSL-1.0
/// View families over one storage: each finds out what the others wrote, and with which record.
#include <byre/shadow/detail/generation.hpp>

#include <algorithm>
#include <optional>

#include "../search.hpp"

namespace byre::verification {
namespace {

using shadow::detail::RecordId;
using shadow::detail::WriteStamp;

/// Records are written before they are used.
class Families {
 protected:
  using Family = shadow::detail::basic_family_generation<Checked>;

  /// Even and odd, so that no bit of a record's number is always set.
  static constexpr RecordId records[] = {2, 1, 4};

  void make(unsigned record) { made_[record].set(7); }

  /// The record of a write that a family is stale of, which can be read.
  unsigned record_of(WriteStamp write) const {
    for (unsigned record = 0; record < std::size(records); ++record) {
      if (write.record() == records[record]) {
        expect(made_[record].get() == 7, "the record of a write is whole");
        return record;
      }
    }
    expect(false, "a write has the record it was made with");
    return 0;
  }

  /// Writes whatever others did; answers whether the family was stale.
  bool write(Family& family, unsigned record, unsigned others_record) {
    const auto stale = family.write(storage_, records[record], [](WriteStamp) {});
    if (stale) {
      expect(record_of(*stale) == others_record, "the write that it is stale of is the other's");
      family.leave_unread(*stale);
    }
    return stale.has_value();
  }

  /// Whether there is a write to report, which has to be the first record's; the reading family has observed it then.
  bool reports(std::optional<WriteStamp> write) {
    if (write) {
      expect(record_of(*write) == 0, "the write that is reported is the one there was");
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
           "of two families that write one is stale");
    expect(!(first_stale_ && second_stale_), "a write is reported once");
    expect(mine_.stale(storage_).has_value() != other_.stale(storage_).has_value(),
           "who wrote last is not stale, and the other is");
    const WriteStamp last =
        std::max(mine_.observed(), other_.observed(),
                 [](WriteStamp a, WriteStamp b) { return a.generation() < b.generation(); });
    expect(last.generation() == 3, "every write has its generation");
    cover_if(other_stale_ && second_stale_, "both are stale");
  }

 private:
  Family mine_;
  Family other_;
  bool first_stale_ = false;
  bool second_stale_ = false;
  bool other_stale_ = false;
};

/// One family writes, another reads, and a third was made of the reading one before.
class FamiliesReadAndWrite : public TwoThreads, Families {
 public:
  static constexpr std::string_view cover_points[] = {"a read is stale", "a read is not stale"};

  FamiliesReadAndWrite() : third_(reading_) {}

  void thread(unsigned index) {
    if (index == 0) {
      make(0);
      expect(!write(writing_, 0, 1), "who writes alone is not stale");
      expect(!write(writing_, 0, 1), "a family is not stale of its own writes");
      expect(!writing_.stale(storage_), "a family is not stale of its own writes");
    } else {
      const auto stale = reading_.stale(storage_);
      cover(stale ? "a read is stale" : "a read is not stale");
      expect(!reports(stale) || reading_.observed() == *stale,
             "a family has observed what was reported");
    }
  }

  void after() {
    expect(third_.stale(storage_).has_value(), "a family is stale of what came after it was made");
    expect(!writing_.stale(storage_), "the writes are its own");
    reports(reading_.stale(storage_));
    expect(!reading_.stale(storage_), "a family is not stale once it was reported");
    expect(Family(reading_).observed() == reading_.observed(),
           "a new family has observed what its origin has");
  }

 private:
  Family third_;
};

/// Two tensors of one family read at once, while another family writes.
class FamiliesReadAtOnce : Families {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"no read is stale", "one is", "both are"};

  void thread(unsigned index) {
    if (index == 2) {
      make(0);
      expect(!write(writing_, 0, 1), "who writes alone is not stale");
    } else {
      is_stale_[index] = reports(reading_.stale(storage_));
    }
  }

  void after() {
    cover(cover_points[int(is_stale_[0]) + int(is_stale_[1])]);
    expect(reading_.stale(storage_).has_value() == (!is_stale_[0] && !is_stale_[1]),
           "a family is not stale once it was reported");
  }

 private:
  bool is_stale_[2] = {};
};

/// A family wrote a part after another's write, and two of its tensors read the rest at once.
class FamiliesLeaveUnread : public TwoThreads, Families {
 public:
  static constexpr std::string_view cover_points[] = {"both reads report it", "one read does"};

  FamiliesLeaveUnread() {
    make(0);
    make(1);
    make(2);
    expect(!write(writing_, 0, 1), "who writes alone is not stale");
    expect(write(reading_, 1, 0), "a write is stale of the one before");
  }

  void thread(unsigned index) { is_reported_[index] = reports(reading_.stale_or_unread(storage_)); }

  void after() {
    expect(is_reported_[0] || is_reported_[1], "a read reports what the family has not read");
    cover(is_reported_[0] && is_reported_[1] ? "both reads report it" : "one read does");
    expect(!reading_.stale_or_unread(storage_), "and no later one, nor of the family's own write");
    expect(!Family(reading_).stale_or_unread(storage_),
           "a new family has read what its origin has");
    expect(write(covering_, 2, 1), "a write is stale of the one before");
    const auto unread = Family(covering_).stale_or_unread(storage_);
    expect(unread && record_of(*unread) == 1, "a new family has not read what its origin has not");
    covering_.forget_unread();
    expect(!covering_.stale_or_unread(storage_), "what is written over is not read");
  }

 private:
  Family covering_;
  bool is_reported_[threads] = {};
};

const Scenario* const families_scenarios[] = {
    scenario<FamiliesRace>(
        "families_race",
        "Of families that write one storage at once one is stale of the other: G1, G2, G3."),
    scenario<FamiliesReadAndWrite>(
        "families_read_and_write",
        "A family is stale of another's write once, and never of its own: G2, G3."),
    scenario<FamiliesReadAtOnce>(
        "families_read_at_once",
        "Reads of one family at once find the write there was, or none: G2, G3.", reduced_search),
    scenario<FamiliesLeaveUnread>(
        "families_leave_unread",
        "A family that wrote a part reports the rest when it reads that: G3, G4."),
};

}  // namespace
}  // namespace byre::verification
