// SPDX-License-Identifier: BSL-1.0
/// Attachments: one for a storage, that of the first thread.
#include <byre/storage/detail/attachment.hpp>

#include <memory>

#include "../search.hpp"

namespace byre::verification {
namespace {

using byre::detail::Attachment;
using Slot = byre::detail::basic_attachment_slot<Checked>;

struct Number : Attachment {
  explicit Number(unsigned wanted) : value(wanted) {}
  Checked::Plain<unsigned> value;
};

unsigned number_in(const Attachment& attachment) {
  return static_cast<const Number&>(attachment).value.get();
}

/// Two threads attach to one storage, as two first reshapes of a tensor do. That the attachment that comes too late is
/// destroyed, once, the checker sees.
class FirstAttachmentsRace : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the first comes first",
                                                      "the second comes first", "one is found"};

  void thread(unsigned index) {
    if (const Attachment* const present = slot_.attachment()) {
      cover("one is found");
      expect(number_in(*present) == 2 - index, "what is found is the other's");
    }
    found_[index] = &slot_.attach(std::make_unique<Number>(index + 1));
    const unsigned number = number_in(*found_[index]);
    expect(number == 1 || number == 2, "what is attached is whole");
    cover(number == 1 ? "the first comes first" : "the second comes first");
  }

  void after() {
    expect(found_[0] == found_[1] && slot_.attachment() == found_[0], "there is one attachment");
  }

 private:
  Slot slot_;
  const Attachment* found_[threads] = {};
};

/// A tag gives way to an attachment, and none comes after that, whoever tags and attaches at once. Who
/// asks whether there is an attachment finds it.
class TagsGiveWay : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the tag comes first",
                                                      "the tag comes too late"};

  void thread(unsigned index) {
    if (index == 0) {
      slot_.attach(std::make_unique<Number>(1));
      expect(slot_.has_attachment(), "who attaches is told that there is one");
      return;
    }
    slot_.set_tag(6);
    const auto tag = slot_.tag();
    cover(tag ? "the tag comes first" : "the tag comes too late");
    expect(tag ? *tag == 6 : number_in(*slot_.attachment()) == 1,
           "the slot has the tag, or an attachment");
  }

  void after() {
    expect(slot_.has_attachment() && number_in(*slot_.attachment()) == 1,
           "the attachment is there");
    expect(!slot_.has_tag() && !slot_.tag(), "and nothing else");
    slot_.set_tag(7);
    expect(slot_.has_attachment() && !slot_.has_tag(), "nor comes again");
    Slot empty;
    expect(!empty.has_attachment() && !empty.tag(), "a new slot is empty");
    empty.set_tag(Slot::max_tag);
    empty.set_tag(0);
    expect(empty.tag() == Slot::max_tag, "the first tag stays");
  }

 private:
  Slot slot_;
};

const Scenario* const attachments_scenarios[] = {
    scenario<FirstAttachmentsRace>(
        "first_attachments_race",
        "Of two attachments to one storage at once one stays, and both threads use it.",
        reduced_search),
    scenario<TagsGiveWay>("tags_give_way", "A tag never takes the room of an attachment."),
};

}  // namespace
}  // namespace byre::verification
