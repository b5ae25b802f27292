// SPDX-License-Identifier: BSL-1.0
/// Two threads attach an object or a tag (a number) to a storage at once. One attachment stays,
/// both threads use it, and a tag never replaces it. If the compare-exchange of attach() is not a
/// release, or the load of find() is not an acquire, a thread reads an incomplete attachment.
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

/// Two threads attach to a storage, as two concurrent first reshapes of a tensor do. The second
/// attachment is not installed, and has to be destroyed exactly once; otherwise the checker reports
/// a leak.
class FirstAttachmentsRace : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {
      "the first attaches first", "the second attaches first", "an attachment is found"};

  void thread(unsigned index) {
    if (const Attachment* const present = slot_.attachment()) {
      cover("an attachment is found");
      expect(number_in(*present) == 2 - index, "the attachment found is the other thread's");
    }
    found_[index] = &slot_.attach(std::make_unique<Number>(index + 1));
    const unsigned number = number_in(*found_[index]);
    expect(number == 1 || number == 2, "the attachment is complete");
    cover(number == 1 ? "the first attaches first" : "the second attaches first");
  }

  void after() {
    expect(found_[0] == found_[1] && slot_.attachment() == found_[0],
           "there is exactly one attachment");
  }

 private:
  Slot slot_;
  const Attachment* found_[threads] = {};
};

/// One thread attaches, the other sets a tag. The attachment replaces the tag, and no later tag
/// replaces the attachment.
class TagsGiveWay : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"the tag is set first",
                                                      "the tag is set too late"};

  void thread(unsigned index) {
    if (index == 0) {
      slot_.attach(std::make_unique<Number>(1));
      expect(slot_.has_attachment(), "has_attachment() is true after attach()");
      return;
    }
    slot_.set_tag(6);
    const auto tag = slot_.tag();
    cover(tag ? "the tag is set first" : "the tag is set too late");
    expect(tag ? *tag == 6 : number_in(*slot_.attachment()) == 1,
           "the slot has the tag or an attachment");
  }

  void after() {
    expect(slot_.has_attachment() && number_in(*slot_.attachment()) == 1, "the attachment remains");
    expect(!slot_.has_tag() && !slot_.tag(), "the tag is gone");
    slot_.set_tag(7);
    expect(slot_.has_attachment() && !slot_.has_tag(), "a later tag is ignored");
    Slot empty;
    expect(!empty.has_attachment() && !empty.tag(), "a new slot is empty");
    empty.set_tag(Slot::max_tag);
    empty.set_tag(0);
    expect(empty.tag() == Slot::max_tag, "a second tag is ignored");
  }

 private:
  Slot slot_;
};

const Scenario* const attachments_scenarios[] = {
    scenario<FirstAttachmentsRace>(
        "first_attachments_race",
        "Two threads attach to one storage at once: one attachment stays, and both threads use it.",
        reduced_search),
    scenario<TagsGiveWay>("tags_give_way", "A tag never replaces an attachment."),
};

}  // namespace
}  // namespace byre::verification
