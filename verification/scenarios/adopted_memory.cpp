// SPDX-License-Identifier: BSL-1.0
#include "adopted_memory.hpp"

namespace byre::verification {
namespace {

template <template <class> class Share>
class AndWritten : public AdoptedMemory<Share, true> {
 public:
  static constexpr std::string_view cover_points[] = {
      "adopted memory is written in place",
      "adopted memory is copied",
  };
};

}  // namespace

const Scenario adopted_memory_is_dropped = scenario<AdoptedMemory<basic_share_word, false>>({
    .name = "adopted_memory_is_dropped",
    .shows =
        "Adopted memory is lazily cloned like any other; its deleter is called once, after all "
        "reads: promise 8.",
});

const Scenario adopted_memory_is_written = scenario<AndWritten<basic_share_word>>({
    .name = "adopted_memory_is_written",
    .shows = "The last owner of adopted memory writes it in place, and its deleter waits for that "
             "owner: promise 8.",
});

const Scenario locked_adopted_memory_is_dropped = scenario<AdoptedMemory<basic_share_lock, false>>({
    .name = "locked_adopted_memory_is_dropped",
    .shows = "The same of the textbook form.",
});

const Scenario locked_adopted_memory_is_written = scenario<AndWritten<basic_share_lock>>({
    .name = "locked_adopted_memory_is_written",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
