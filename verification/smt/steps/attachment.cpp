// SPDX-License-Identifier: BSL-1.0
// From an empty slot, one with a tag, and one with an attachment; after each step another attaches or sets a
// tag, or the step fails for nothing. What the slot has is written as tags.attachments.
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/detail/attachment_table.hpp>

#include <array>
#include <iterator>
#include <memory>

#include "steps.hpp"

namespace byre::verification {
namespace {

using Slot = detail::basic_attachment_slot<Recorded>;

constexpr std::uint32_t first_tag = 7;
constexpr std::uint32_t other_tag = 8;

struct Counted final : detail::Attachment {
  Counted() noexcept { ++alive; }
  ~Counted() override { --alive; }
  static inline unsigned alive = 0;
};

struct Operation {
  const char* name;
  unsigned (*run)(Slot&);
};

constexpr Operation operations[] = {
    {"has_attachment", [](Slot& slot) { return unsigned{slot.has_attachment()}; }},
    {"attachment", [](Slot& slot) { return unsigned{slot.attachment() != nullptr}; }},
    {"has_tag", [](Slot& slot) { return unsigned{slot.has_tag()}; }},
    {"tag", [](Slot& slot) { return slot.tag().value_or(0); }},
    {"set_tag", [](Slot& slot) { return slot.set_tag(first_tag), 0U; }},
    {"attach",  // 1: its own; 2: another's
     [](Slot& slot) {
       auto own = std::make_unique<Counted>();
       const detail::Attachment* const address = own.get();
       return &slot.attach(std::move(own)) == address ? 1U : 2U;
     }},
};

enum class Others : unsigned { rest, attach, set_tag, fail };
enum class Start : unsigned { empty, tagged, attached };

std::string text(const sync::Site&, std::uint64_t word) {
  return word == 0 ? "0.0" : word > Slot::max_tag ? "1.0" : "0.1";
}

void print(const Operation& operation, Others others, unsigned step, Start start) {
  recording.clear();
  Slot slot;
  if (start == Start::tagged) {
    slot.set_tag(first_tag);
  } else if (start == Start::attached) {
    slot.attach(std::make_unique<Counted>());
  }
  recording.others_act_after = step;
  recording.fails_at = others == Others::fail ? step : 0;
  recording.others = [&] {
    if (others == Others::attach && !recording.is_locked) {
      slot.attach(std::make_unique<Counted>());
    } else if (others == Others::set_tag) {
      slot.set_tag(other_tag);
    }
  };
  recording.begin(words("attachment", operation.name, static_cast<unsigned>(others), step,
                        static_cast<unsigned>(start)));
  const unsigned answer = operation.run(slot);
  recording.end(words(answer, Counted::alive));
}

/// The first of all finds no room; those after it that are alive at once find that of these.
void print_first(const Operation& attach) {
  print({"attach_first", attach.run}, Others::rest, 1, Start::empty);
  std::array<Slot, 3> slots;
  for (Slot& slot : slots) {
    slot.attach(std::make_unique<Counted>());
  }
}

}  // namespace

unsigned print_attachment_steps() {
  recording.text = text;
  print_first(operations[std::size(operations) - 1]);
  for (const Operation& operation : operations) {
    for (const auto others : {Others::rest, Others::attach, Others::set_tag, Others::fail}) {
      for (unsigned step = 1; step <= 7; ++step) {
        for (const auto start : {Start::empty, Start::tagged, Start::attached}) {
          print(operation, others, step, start);
        }
      }
    }
  }
  return recording.report_unreached(detail::attachment_sites, {});
}

}  // namespace byre::verification
