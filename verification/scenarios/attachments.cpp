// SPDX-License-Identifier: BSL-1.0
/// Attachments: one for a storage, whoever comes first, and a number of its own for each.
#include <byre/storage/detail/attachment.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

using Slot = byre::detail::basic_attachment_slot<Checked>;

struct Number : Attachment {
  explicit Number(unsigned wanted) : value(wanted) {}
  Checked::Plain<unsigned> value;
};

unsigned number_in(const Attachment& attachment) {
  return static_cast<const Number&>(attachment).value.get();
}

/// Two threads attach to one storage, as two first reshapes of a tensor do.
class FirstAttachmentsRace {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"the first comes first",
                                                      "the second comes first", "one is found"};

  void thread(unsigned index) {
    if (const Attachment* const present = slot_.find()) {
      cover("one is found");
      expect(number_in(*present) == 2 - index, "what is found is the other's");
    }
    found_[index] = &slot_.attach(std::make_unique<Number>(index + 1));
    const unsigned number = number_in(*found_[index]);
    expect(number == 1 || number == 2, "what is attached is whole");
    cover(number == 1 ? "the first comes first" : "the second comes first");
  }

  void after() {
    expect(found_[0] == found_[1] && slot_.find() == found_[0], "there is one attachment");
  }

 private:
  Slot slot_;
  const Attachment* found_[threads] = {};
};

/// Two threads make storages with attachments, and destroy them; numbers are used again.
class NumbersAreGivenOnce {
 public:
  static constexpr unsigned threads = 2;

  void thread(unsigned index) {
    for (unsigned round = 0; round < 2; ++round) {
      Slot slot;
      slot.attach(std::make_unique<Number>(index));
      expect(number_in(*slot.find()) == index, "a storage has the attachment it was given");
    }
  }
};

/// What was noted of a storage gives way to an attachment, and no note comes after that, whoever notes
/// and attaches at once. Who asks whether there is one finds it.
class NotesGiveWay {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"a note comes first",
                                                      "a note comes too late"};

  NotesGiveWay() { slot_.note(0, 5); }

  void thread(unsigned index) {
    if (index == 0) {
      slot_.attach(std::make_unique<Number>(1));
      expect(slot_.has_one(), "who attaches is told that there is one");
      return;
    }
    const std::uint32_t before = slot_.noted();
    expect(before == 5 || slot_.has_one(), "a note stays until there is an attachment");
    slot_.note(before, 6);
    const bool is_noted = slot_.is_noted(6);
    cover(is_noted ? "a note comes first" : "a note comes too late");
    expect(is_noted || number_in(*slot_.find()) == 1, "what is not noted found an attachment");
  }

  void after() {
    expect(slot_.has_one() && number_in(*slot_.find()) == 1, "the attachment is there");
    expect(slot_.noted() == 0, "and nothing else");
    slot_.note(0, 7);
    expect(slot_.has_one() && slot_.noted() == 0, "nor comes again");
  }

 private:
  Slot slot_;
};

}  // namespace

extern const Scenario first_attachments_race;
const Scenario first_attachments_race = scenario<FirstAttachmentsRace>({
    .name = "first_attachments_race",
    .shows = "Of two attachments to one storage at once one stays, and both threads use it.",
});

extern const Scenario notes_give_way;
const Scenario notes_give_way = scenario<NotesGiveWay>({
    .name = "notes_give_way",
    .shows = "A note never takes the room of an attachment.",
});

extern const Scenario numbers_are_given_once;
const Scenario numbers_are_given_once = scenario<NumbersAreGivenOnce>({
    .name = "numbers_are_given_once",
    .shows = "Two storages never have the same attachment.",
    .quick = reduced_search,
    .deep = preemptions(3),
});

}  // namespace byre::verification
