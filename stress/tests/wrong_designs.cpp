// SPDX-License-Identifier: BSL-1.0
/// The mixed workload over a design that is wrong: stress_wrong_designs NAME SEED. Reports as
/// byre-stress does, and ends as it does: 1 if something was found.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../mixed/run.hpp"
#include "../report/console.hpp"
#include "../report/report.hpp"
#include "../seeded_bugs/wrong_designs.hpp"

namespace byre::stress {
namespace {

/// No operation takes as long. A hang is to be found soon.
constexpr std::chrono::seconds hang_timeout{20};

template <template <class> class Share>
Outcome run(const Settings& settings) {
  Console console;
  return Run<Perturbed, Share>("mixed", settings, console, hang_timeout).complete();
}

Outcome run(std::string_view name, const Settings& settings) {
  using namespace seeded_bugs;
  if (name == "drops_in_two_steps") {
    return run<WordOver<DropsInTwoSteps>::Share>(settings);
  }
  if (name == "claims_in_two_steps") {
    return run<WordOver<ClaimsInTwoSteps>::Share>(settings);
  }
  if (name == "stays_waiting") {
    return run<WordOver<StaysWaiting>::Share>(settings);
  }
  if (name == "count_then_lock") {
    return run<basic_count_then_lock>(settings);
  }
  throw std::invalid_argument("there is no such design here");
}

}  // namespace
}  // namespace byre::stress

int main(int argc, char** argv) {
  using namespace byre::stress;
  if (argc != 3) {
    return 2;
  }
  Settings settings{.seed = std::strtoull(argv[2], nullptr, 10),
                    .threads = 4,
                    .storages = 16,
                    .sizes = {1, 4096},
                    .perturbation = usual_perturbation,
                    .operations = 50'000};
  // Writes of what others still copy come about often.
  settings.mix =
      parse_mix("shared_slot_clone=4,shared_slot_steal=4,hand=2,take=2,write=2,read=1,drop=1");
  const Outcome outcome = run(argv[1], settings);
  std::fputs(text_of(outcome).c_str(), stdout);
  return outcome.failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
