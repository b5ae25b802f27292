// SPDX-License-Identifier: BSL-1.0
/// Each wrong design must be detected: by a check of a race, a step on released memory, a signal,
/// or a hang. In a build with a sanitizer that can detect the error, the sanitizer must report it.
/// The design of the library must pass.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "../mixed/run.hpp"
#include "../races/run_scenario.hpp"
#include "../races/scenarios/failing_copies.hpp"
#include "../races/scenarios/families_write_at_once.hpp"
#include "../races/scenarios/pending_copies.hpp"
#include "../races/scenarios/tiles.hpp"
#include "designs.hpp"
#include "support/child_process.hpp"
#include "support/sanitized.hpp"

namespace byre::stress {
namespace {

using namespace races;
using namespace wrong;

/// Many times the duration of a round, even on a slow and busy machine.
constexpr std::chrono::seconds hang_timeout{test::is_sanitized ? 20 : 3};

/// sync::Default with objects that this program defines, because the library defines none for wrong
/// designs.
struct Unchecked : sync::Default {
  template <class Object>
  static Object& no_destructor() noexcept {
    return sync::no_destructor<Object>();
  }
};

/// A sanitizer checks more than LifetimeChecked does, and detects errors in the design's own steps.
using CheckedSync = PerturbedOver<
    std::conditional_t<test::is_sanitized, Unchecked, LifetimeChecked<sync::Default>>>;

/// Text that a sanitizer's report must contain; null if the sanitizer cannot detect the error.
using ReportText = const char*;
constexpr ReportText race = "data race";
constexpr ReportText freed = test::is_thread_sanitized ? race : "heap-use-after-free";
constexpr ReportText leaked = "leaked";
constexpr ReportText mutex_or_race =
    "ThreadSanitizer: ";  // a destroyed mutex, or a race with the release
constexpr ReportText none = nullptr;

struct WrongDesign {
  std::string_view name;
  Race::Run run;
  ReportText by_thread_sanitizer = none;
  ReportText by_address_sanitizer = none;
  bool is_visible_without_sanitizer =
      true;  ///< the checks of the race detect it on x86 without a sanitizer

  ReportText expected() const noexcept {
    return test::is_thread_sanitized ? by_thread_sanitizer : by_address_sanitizer;
  }
};

template <template <class> class ScenarioOf, template <class> class Design>
constexpr Race::Run over = &run_scenario<ScenarioOf<basic_buffer<WithDesign<CheckedSync, Design>>>>;
template <template <class> class ScenarioOf, template <class> class WrongSync>
constexpr Race::Run over_word = over<ScenarioOf, ShareWordOver<WrongSync>::template Design>;

template <class Buffer>
using FamiliesCountWritesTwice = FamiliesWriteAtOnce<Buffer, verification::basic_counting_family>;

void PrintTo(const WrongDesign& design, std::ostream* out) {
  *out << design.name;
}

using verification::basic_copy_then_count;
using verification::basic_copy_then_count_unlocked;
using verification::basic_count_then_lock;

const WrongDesign all[] = {
    // Published designs.
    {"count_then_lock_drops", over<DropsAgainstDrops, basic_count_then_lock>, mutex_or_race},
    {"count_then_lock_writes", over<ConcurrentMaterialize, basic_count_then_lock>, race},
    {"copy_then_count_drops", over<DropsAgainstDrops, basic_copy_then_count>, mutex_or_race},
    {"copy_then_count_writes", over<ConcurrentMaterialize, basic_copy_then_count_unlocked>},
    {"first_clone_rewrites_source", over<FirstClonesAtOnce, PlainUntilCloned>, race, freed},
    {"counts_writes_twice", &run_scenario<FamiliesCountWritesTwice<basic_buffer<CheckedSync>>>},
    // Coding mistakes.
    {"reads_after_drop", over<DropsAgainstDrops, ReadsAfterDrop>, race, freed},
    {"undoes_after_unlock", over<FailingCopies, verification::UndoesAfterUnlock>, race},
    {"finishes_before_copying", over<TilesWrittenAtOnce, FinishesBeforeCopying>, race},
    {"wakes_through_header", over_word<StealAgainstPendingCopies, WakesThroughHeader>, race, freed},
    {"parks_without_recheck", over_word<StealAgainstPendingCopies, ParksWithoutRecheck>},
    {"never_wakes", over_word<StealAgainstPendingCopies, NeverWakes>},
    {"stays_waiting", over_word<StolenDataIsSharedAgain, StaysWaiting>, none, leaked},
    // x86 does not reorder these steps, and the compiler has no reason to reorder them.
    {"relaxed_uniqueness", over_word<ReadsAgainstWritesInPlace, verification::RelaxedLoads>, race,
     none, false},
};

/// Runs `work` in a child process and returns its standard error. The child is killed if it writes
/// nothing for `patience`, or once a sanitizer has reported something.
test::ChildResult run_apart(const std::function<void(int output)>& work,
                            std::chrono::seconds patience) {
  test::ChildProcess child([&](int output) {
    test::redirect(STDERR_FILENO, output);
    work(output);
    std::exit(0);  // exit() lets a sanitizer look for leaks
  });
  auto heard = test::ChildProcess::Heard::something;
  while (heard == test::ChildProcess::Heard::something &&
         child.text().find("SUMMARY: ") == std::string::npos) {
    heard = child.listen(patience);
  }
  if (heard != test::ChildProcess::Heard::end) {
    child.kill();
  }
  const test::Exit exit = child.wait();
  return {exit, child.text()};
}

test::ChildResult run_race_apart(Race::Run run, std::uint64_t seed, std::uint64_t rounds = 20'000) {
  return run_apart(
      [&](int output) {
        RaceSettings settings{
            .seed = seed, .threads = 3, .rounds = rounds, .perturbation = usual_perturbation};
        settings.after_round = [output](const RaceResult& result) {
          if (!result.failures.empty()) {
            test::write_all(output, result.failures.front());
            // A sanitizer may report more, at the end of the race or of the process.
            if (!test::is_sanitized) {
              ::_exit(exit_found);
            }
          } else if (result.rounds % 16 == 0) {
            test::write_all(output, "\n");  // shows the parent that the race does not hang
          }
        };
        run(settings);
      },
      hang_timeout);
}

/// True if a check, a signal or a hang ended the child. False if the child could not run the race.
bool is_detected(const test::Exit& exit) {
  return exit.was_killed() || exit.signal() || exit.code() == exit_found;
}

class WrongDesigns : public testing::TestWithParam<WrongDesign> {};

TEST_P(WrongDesigns, are_detected) {
  const WrongDesign& design = GetParam();
  if (test::is_sanitized ? design.expected() == none : !design.is_visible_without_sanitizer) {
    GTEST_SKIP() << "not detectable in this build";
  }
  std::string output;
  for (std::uint64_t seed = 1; seed <= (test::is_sanitized ? 5 : 1); ++seed) {
    const test::ChildResult result = run_race_apart(design.run, seed);
    output = result.exit.text() + ": " + result.output;
    if (test::is_sanitized ? output.find(design.expected()) != output.npos
                           : is_detected(result.exit)) {
      return;
    }
  }
  FAIL() << output;
}

INSTANTIATE_TEST_SUITE_P(All, WrongDesigns, testing::ValuesIn(all),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(WrongDesigns, a_race_over_the_library_design_detects_no_error) {
  const auto result =
      run_race_apart(&run_scenario<DropsAgainstDrops<basic_buffer<CheckedSync>>>, 1, 1000);
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
}

/// Runs the mixed workload with a mix in which writes of data that other threads still copy are
/// frequent.
template <class Sync>
test::ChildResult run_programs_over(std::uint64_t operations = 20'000) {
  return run_apart(
      [operations](int) {
        const Settings settings{
            .seed = 1,
            .threads = 4,
            .most_nbytes = 4096,
            .mix = programs::parse_mix(
                "place_put=1,place_clone=4,place_steal=4,hand=2,take=2,write=2,drop=1,allocate=1"),
            .perturbation = usual_perturbation,
            .operations = operations};
        Run<programs::Types<Sync, 2>>("mixed", settings, hang_timeout).complete();
      },
      std::chrono::seconds(60));
}

template <template <class> class WrongSync>
using WordOf = WithDesign<PerturbedOver<Unchecked>, ShareWordOver<WrongSync>::template Design>;

void expect_report(const test::ChildResult& result) {
  // The supervisor ends a hanging program, with a report.
  EXPECT_FALSE(result.exit.was_killed());
  EXPECT_TRUE(result.exit.signal() || result.exit.code() == EXIT_FAILURE)
      << result.exit.text() << result.output;
  EXPECT_NE(result.output.find("repeat: byre-stress --workload mixed --seed 1 --threads 4"),
            std::string::npos);
  // At least one thread has traced steps; the others may not have started.
  EXPECT_NE(result.output.find("  thread "), std::string::npos) << result.output;
}

TEST(WrongDesigns, random_programs_detect_wrong_designs_and_print_a_report) {
  if (test::is_sanitized) {
    GTEST_SKIP() << "a sanitizer reports them first";
  }
  expect_report(run_programs_over<WordOf<StaysWaiting>>());
  expect_report(run_programs_over<WithDesign<PerturbedOver<Unchecked>, basic_count_then_lock>>());
}

TEST(WrongDesigns, random_programs_over_the_library_detect_no_error) {
  if (test::is_sanitized) {
    GTEST_SKIP()
        << "sanitizers do not support threads of a forked process; other stress tests cover this";
  }
  const auto result = run_programs_over<Perturbed>(2'000);
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text() << result.output;
}

}  // namespace
}  // namespace byre::stress
