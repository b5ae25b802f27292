// SPDX-License-Identifier: BSL-1.0
/// View families over one storage: each finds out what the others wrote, and where.
#include <byre/shadow/generation.hpp>

#include <algorithm>

#include "../search.hpp"

namespace byre::verification {
namespace {

using shadow::PlaceId;
using shadow::WriteMark;

/// Places are known by what is said of them before they are used.
class Families {
 protected:
  using Family = shadow::basic_family_generation<Checked>;

  /// Even and odd, so that no bit of a place is always set.
  static constexpr PlaceId places[] = {2, 1, 4};

  void say(unsigned place) { said_[place].set(7); }

  /// The place of a write that somebody is told of; what was said of it can be read.
  unsigned place_of(WriteMark write) const {
    for (unsigned place = 0; place < std::size(places); ++place) {
      if (write.place() == places[place]) {
        expect(said_[place].get() == 7, "what was said of a place is known with it");
        return place;
      }
    }
    expect(false, "a write has the place where it was made");
    return 0;
  }

  /// Writes whatever others did; answers whether they did something that the family did not know of.
  bool write(Family& family, unsigned place, unsigned others_place) {
    const auto unknown = family.write(storage_, places[place]);
    if (unknown) {
      expect(place_of(*unknown) == others_place, "the write that is told of is the other's");
      family.learn_by_writing(*unknown, *unknown);
      family.write_anyway(storage_, *unknown, places[place]);
    }
    return unknown.has_value();
  }

  static void cover_if(bool is_reached, std::string_view state) {
    if (is_reached) {
      cover(state);
    }
  }

  shadow::basic_storage_generation<Checked> storage_;

 private:
  Checked::Plain<unsigned> said_[std::size(places)]{
      Checked::Plain<unsigned>(0), Checked::Plain<unsigned>(0), Checked::Plain<unsigned>(0)};
};

/// Two families write, one of them twice.
class FamiliesRace : Families {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "the first write is told of the other's", "the second write is told of the other's",
      "the other's write is told of one", "both are told"};

  void thread(unsigned index) {
    if (index == 0) {
      say(0);
      first_told_ = write(mine_, 0, 1);
      second_told_ = write(mine_, 0, 1);
      cover_if(first_told_, "the first write is told of the other's");
      cover_if(second_told_, "the second write is told of the other's");
    } else {
      say(1);
      other_told_ = write(other_, 1, 0);
      cover_if(other_told_, "the other's write is told of one");
    }
  }

  void after() {
    expect(int(first_told_) + int(second_told_) + int(other_told_) >= 1,
           "of two families that write one is told of the other");
    expect(!(first_told_ && second_told_), "a write is told of once");
    expect(mine_.unknown_write(storage_).has_value() != other_.unknown_write(storage_).has_value(),
           "who wrote last knows of all writes, and the other does not");
    const WriteMark last = std::max(mine_.known(), other_.known(), [](WriteMark a, WriteMark b) {
      return a.generation() < b.generation();
    });
    expect(last.generation() == 3, "every write has its generation");
    cover_if(other_told_ && second_told_, "both are told");
  }

 private:
  Family mine_;
  Family other_;
  bool first_told_ = false;
  bool second_told_ = false;
  bool other_told_ = false;
};

/// One family writes, another reads, and a third was made of the reading one before.
class FamiliesReadAndWrite : Families {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a read is told of the write",
                                                      "a read knows of no write"};

  FamiliesReadAndWrite() : third_(reading_) {}

  void thread(unsigned index) {
    if (index == 0) {
      say(0);
      expect(!writing_.write(storage_, places[0]), "who writes alone knows of all writes");
      expect(!writing_.write(storage_, places[0]), "a family knows of its own writes");
      expect(!writing_.unknown_write(storage_), "a family knows of its own writes");
    } else {
      const auto unknown = reading_.unknown_write(storage_);
      cover(unknown ? "a read is told of the write" : "a read knows of no write");
      if (unknown) {
        expect(place_of(*unknown) == 0, "the write that is told of is the one there was");
        reading_.learn_by_reading(*unknown);
        expect(reading_.known() == *unknown, "a family knows of what it was told of");
      }
    }
  }

  void after() {
    expect(third_.unknown_write(storage_).has_value(),
           "a family does not know of what came after it was made");
    expect(!writing_.unknown_write(storage_), "the writes are its own");
    if (const auto unknown = reading_.unknown_write(storage_)) {
      reading_.learn_by_reading(*unknown);
    }
    expect(!reading_.unknown_write(storage_), "a family agrees again once it was told");
    expect(Family(reading_).known() == reading_.known(), "a new family knows what its origin does");
  }

 private:
  Family writing_;
  Family reading_;
  Family third_;
};

/// One family's write is told of an earlier one, and goes ahead; a third is told of that.
class FamiliesDisagreeTwice : Families {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"told of the second write",
                                                      "told of the first write"};

  FamiliesDisagreeTwice() {
    say(0);
    expect(!first_.write(storage_, places[0]), "who writes alone knows of all writes");
  }

  void thread(unsigned index) {
    if (index == 0) {
      say(1);
      expect(write(second_, 1, 0), "the second is told of the first");
    } else {
      const auto unknown = third_.unknown_write(storage_);
      expect(unknown.has_value(), "the third is told of a write");
      cover(place_of(*unknown) == 1 ? "told of the second write" : "told of the first write");
    }
  }

 private:
  Family first_;
  Family second_;
  Family third_;
};

/// A family wrote a part after another's write, and two of its tensors read the rest at once.
class FamiliesLeaveUnread : Families {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"both reads are told", "one read is told"};

  FamiliesLeaveUnread() {
    say(0);
    say(1);
    say(2);
    expect(!writing_.write(storage_, places[0]), "who writes alone knows of all writes");
    expect(write(reading_, 1, 0), "a write is told of the one before");
  }

  void thread(unsigned index) {
    if (const auto unread = reading_.unread_write(storage_)) {
      expect(place_of(*unread) == 0, "what it has not read is what it was told of");
      reading_.learn_by_reading(*unread);
      is_told_[index] = true;
    }
  }

  void after() {
    expect(is_told_[0] || is_told_[1], "a read is told of what the family has not read");
    cover(is_told_[0] && is_told_[1] ? "both reads are told" : "one read is told");
    expect(!reading_.unread_write(storage_), "and no later one, nor of the family's own write");
    expect(!Family(reading_).unread_write(storage_), "a new family has read what its origin has");
    expect(write(covering_, 2, 1), "a write is told of the one before");
    const auto unread = Family(covering_).unread_write(storage_);
    expect(unread && place_of(*unread) == 1, "a new family has not read what its origin has not");
    covering_.forget_unread();
    expect(!covering_.unread_write(storage_), "what is written over is not read");
  }

 private:
  Family writing_;
  Family reading_;
  Family covering_;
  bool is_told_[threads] = {};
};

/// One family writes, another reads, and a third is made of the reading one meanwhile.
class FamiliesComeOutOfReaders : Families {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {"it knows of the write", "it does not"};

  void thread(unsigned index) {
    if (index == 0) {
      say(0);
      expect(!writing_.write(storage_, places[0]), "who writes alone knows of all writes");
    } else if (index == 1) {
      if (const auto unread = reading_.unread_write(storage_)) {
        reading_.learn_by_reading(*unread);
      }
    } else {
      const PlaceId place = Family(reading_).last_place(storage_);
      cover(place != 0 ? "it knows of the write" : "it does not");
      expect(place == 0 || place_of(WriteMark(place)) == 0, "the place is that of the write");
    }
  }

 private:
  Family writing_;
  Family reading_;
};

/// A read of a family is silenced, and another of its reads asks for that.
class FamiliesAreSilenced : Families {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"it was silenced by then", "it was not"};

  FamiliesAreSilenced() {
    say(0);
    expect(!writing_.write(storage_, places[0]), "who writes alone knows of all writes");
  }

  void thread(unsigned index) {
    const auto unread = reading_.unread_write(storage_);
    expect(unread.has_value(), "a silenced read leaves the family untold");
    if (index == 0) {
      say(1);
      reading_.silence_read(*unread, places[1]);
    } else {
      const auto where = reading_.silenced_read(*unread);
      cover(where ? "it was silenced by then" : "it was not");
      expect(!where || place_of(WriteMark(*where)) == 1, "the place is that of the silenced read");
    }
  }

  void after() {
    const auto unread = reading_.unread_write(storage_);
    expect(unread.has_value(), "a silenced read leaves the family untold");
    expect(reading_.silenced_read(*unread) == places[1], "a family remembers what was silenced");
    expect(!Family(reading_).silenced_read(*unread), "and one made of it does not");
    expect(!writing_.write(storage_, places[0]), "who writes alone knows of all writes");
    expect(!reading_.silenced_read(*reading_.unread_write(storage_)), "nor of another write");
  }

 private:
  Family writing_;
  Family reading_;
};

}  // namespace

extern const Scenario families_race;
const Scenario families_race = scenario<FamiliesRace>({
    .name = "families_race",
    .shows = "Of families that write one storage at once one is told of the other, and where: G1, "
             "G3.",
});

extern const Scenario families_read_and_write;
const Scenario families_read_and_write = scenario<FamiliesReadAndWrite>({
    .name = "families_read_and_write",
    .shows = "A family is told of another's write once, and never of its own: G2, G3.",
});

extern const Scenario families_disagree_twice;
const Scenario families_disagree_twice = scenario<FamiliesDisagreeTwice>({
    .name = "families_disagree_twice",
    .shows = "A write that goes ahead is a write like any other: G1, G2.",
});

extern const Scenario families_come_out_of_readers;
const Scenario families_come_out_of_readers = scenario<FamiliesComeOutOfReaders>({
    .name = "families_come_out_of_readers",
    .shows = "A family that knows of the last write knows its place, whoever was told of it: G3.",
});

extern const Scenario families_are_silenced;
const Scenario families_are_silenced = scenario<FamiliesAreSilenced>({
    .name = "families_are_silenced",
    .shows = "A family knows where a read was silenced, and of which write: G5.",
});

extern const Scenario families_leave_unread;
const Scenario families_leave_unread = scenario<FamiliesLeaveUnread>({
    .name = "families_leave_unread",
    .shows = "A family that wrote a part is told of the rest when it reads that: G3, G4.",
});

}  // namespace byre::verification
