// SPDX-License-Identifier: BSL-1.0
/// Attachments: one for a storage, whoever comes first, and a number of its own for each.
#include <byre/storage/attachment.hpp>

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

}  // namespace

extern const Scenario first_attachments_race;
const Scenario first_attachments_race = scenario<FirstAttachmentsRace>({
    .name = "first_attachments_race",
    .shows = "Of two attachments to one storage at once one stays, and both threads use it.",
});

extern const Scenario numbers_are_given_once;
const Scenario numbers_are_given_once = scenario<NumbersAreGivenOnce>({
    .name = "numbers_are_given_once",
    .shows = "Two storages never have the same attachment.",
    .quick = reduced_search,
    .deep = switches(3),
});

}  // namespace byre::verification
