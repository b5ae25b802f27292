// SPDX-License-Identifier: BSL-1.0
// Prints the steps of a reference count that starts with 1 to 5 handles. After the first step,
// another handle may be copied or dropped, if there is one.
#include <byre/sync/detail/ref_count.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

using Count = basic_ref_count<Recorded>;

struct Operation {
  const char* name;
  unsigned (*run)(Count&);
};

constexpr Operation operations[] = {
    {"add", [](Count& count) { return count.add(), 0U; }},
    {"drop", [](Count& count) { return unsigned{count.drop()}; }},
    {"count", [](Count& count) { return unsigned{count.count() == 1}; }},
};

enum class Others : unsigned { rest, add, drop };

void print(const Operation& operation, Others others, std::uint64_t handles) {
  recording.clear();
  Count count;
  std::uint64_t& handles_now = *recording.atomics[0];
  handles_now = handles;
  recording.others = [&] {
    if (others != Others::rest && handles_now >= 2) {
      others == Others::add ? count.add() : static_cast<void>(count.drop());
    }
  };
  recording.begin(words("ref_count", operation.name, static_cast<unsigned>(others), handles));
  recording.end(words(operation.run(count)));
}

}  // namespace

unsigned print_ref_count_steps() {
  recording.text = [](const sync::Site&, std::uint64_t handles) { return std::to_string(handles); };
  for (const Operation& operation : operations) {
    for (const auto others : {Others::rest, Others::add, Others::drop}) {
      for (std::uint64_t handles = 1; handles <= 5; ++handles) {
        print(operation, others, handles);
      }
    }
  }
  return recording.report_unreached(detail::ref_count_sites, {});
}

}  // namespace byre::verification
