// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/sleepers_are_woken.hpp"

namespace byre::verification {
namespace {

/// Wrong: checks the condition, and then parks whatever has happened meanwhile.
class ParksWithoutRecheck : public SleepersAreWoken<1> {
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

const Scenario parks_without_recheck = scenario<ParksWithoutRecheck>({
    .name = "known_wrong.parks_without_recheck",
    .shows = "Who does not check again before it sleeps misses a wake: what parking promises.",
    .expected = Verdict::deadlock,
});

}  // namespace byre::verification
