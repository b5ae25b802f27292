// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/sleepers_are_woken.hpp"

namespace byre::verification {
namespace {

/// Wrong: looks, and then sleeps whatever has happened meanwhile.
class SleepsWithoutALook : public SleepersAreWoken<1> {
 public:
  static constexpr std::span<const std::string_view> cover_points{};

  void thread(unsigned index) {
    if (index == 0) {
      change();
    } else if (!is_changed()) {
      Checked::park(
          address, [] { return true; }, sites.at(At::park));
    }
  }
};

}  // namespace

extern const Scenario sleeps_without_a_look;
const Scenario sleeps_without_a_look = scenario<SleepsWithoutALook>({
    .name = "control.sleeps_without_a_look",
    .shows = "Who does not look again before it sleeps misses a wake: what parking promises.",
    .expected = Verdict::deadlock,
});

}  // namespace byre::verification
