// SPDX-License-Identifier: BSL-1.0
// From 0 to 3 pins; after each step another pin is released, or added to read, if there is one, or the step fails
// for nothing.
#include <byre/storage/detail/pin_count.hpp>

#include "steps.hpp"

namespace byre::verification {
namespace {

using Pins = detail::basic_pin_count<Recorded>;

struct Operation {
  const char* name;
  unsigned (*run)(Pins&);
  std::uint64_t fewest;
};

constexpr Operation operations[] = {
    {"add", [](Pins& pins) { return pins.add(), 0U; }, 0},
    {"add_another", [](Pins& pins) { return unsigned{pins.add_another()}; }, 0},
    {"drop", [](Pins& pins) { return pins.drop(), 0U; }, 1},
    {"any", [](Pins& pins) { return unsigned{pins.any()}; }, 0},
};

enum class Others : unsigned { rest, release, add, fail };

void print(const Operation& operation, Others others, unsigned step, std::uint64_t count) {
  recording.clear();
  Pins pins;
  std::uint64_t& count_now = *recording.atomics[0];
  count_now = count;
  recording.others_act_after = step;
  recording.fails_at = others == Others::fail ? step : 0;
  recording.others = [&] {
    if (count_now >= 1 && others == Others::release) {
      pins.drop();
    } else if (count_now >= 1 && others == Others::add) {
      static_cast<void>(pins.add_another());
    }
  };
  recording.begin(words("pin_count", operation.name, static_cast<unsigned>(others), step, count));
  recording.end(words(operation.run(pins)));
}

}  // namespace

unsigned print_pin_count_steps() {
  recording.text = [](const sync::Site&, std::uint64_t count) { return std::to_string(count); };
  for (const Operation& operation : operations) {
    for (const auto others : {Others::rest, Others::release, Others::add, Others::fail}) {
      for (unsigned step = 1; step <= 4; ++step) {
        for (std::uint64_t count = operation.fewest; count <= 3; ++count) {
          print(operation, others, step, count);
        }
      }
    }
  }
  return recording.report_unreached(detail::pin_count_sites, {});
}

}  // namespace byre::verification
