// SPDX-License-Identifier: BSL-1.0
/// Histories of AtomicBuffer, Buffer and Storage are linearizable, and the search refutes wrong
/// designs.
#include "histories.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "../perturbed/perturbed.hpp"
#include "owners_trial.hpp"
#include "place_trial.hpp"
#include "support/sanitized.hpp"
#include "wrong_places.hpp"

namespace byre::stress {
namespace {

using namespace histories;

std::string text_of(const RaceResult& result) {
  std::string text;
  for (const std::string& failure : result.failures) {
    text += failure + '\n';
  }
  for (const auto& [name, figure] : result.figures) {
    text += std::string(name) + ' ' + std::to_string(figure) + '\n';
  }
  return text;
}

std::uint64_t figure(const RaceResult& result, std::string_view name) {
  for (const auto& [each, figure] : result.figures) {
    if (each == name) {
      return figure;
    }
  }
  return 0;
}

/// A sanitizer is slower.
constexpr std::uint64_t slowness = test::is_sanitized ? 5 : 1;

class HistoriesOf : public testing::TestWithParam<Race> {};

TEST_P(HistoriesOf, the_library_are_linearizable) {
  for (const Perturbation& perturbation : {no_perturbation, usual_perturbation}) {
    const RaceResult result =
        GetParam().run({.threads = 3,
                        .rounds = (perturbation == no_perturbation ? 100 : 40) / slowness,
                        .perturbation = perturbation});
    EXPECT_TRUE(result.failures.empty()) << text_of(result);
    if (perturbation != no_perturbation) {
      EXPECT_GT(figure(result, "histories_with_overlap"), result.rounds);
      if (GetParam().name == "atomic_histories") {
        EXPECT_GT(figure(result, "refills"), 0U) << text_of(result);
        EXPECT_GT(figure(result, "held_stores"), 0U) << text_of(result);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HistoriesOf, testing::ValuesIn(all_histories()),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

using Value = basic_buffer<Perturbed>;

constexpr Subject wrong_designs[] = {
    {"exchanges_by_load_and_store",
     &make_trial<PlaceTrial<Value, wrong::ExchangesByLoadAndStore<Value>>>},
    {"compares_then_stores", &make_trial<PlaceTrial<Value, wrong::ComparesThenStores<Value>>>},
    {"caches_by_version", &make_trial<PlaceTrial<Value, wrong::CachesByVersion<Value>>>},
    {"counts_first", &make_trial<PlaceTrial<Value, wrong::CountsFirst<Value>>>},
    {"copies_always", &make_trial<OwnersTrial<Value, wrong::CopiesAlways>>},
    {"tests_then_copies", &make_trial<OwnersTrial<Value, wrong::TestsThenCopies>>},
};

/// A trial without operations.
struct Idle final : Trial {
  Idle(test::Random&, unsigned) {}
  void act(unsigned, test::Random&, Log&) override {}
  Verdict check(const std::vector<Operation>&) const override { return {}; }
  std::string text(const Operation&) const override { return {}; }
};

TEST(Histories, a_perturbed_run_without_overlaps_fails) {
  const Subject idle{"idle", &make_trial<Idle>};
  const RaceResult result =
      run_histories({.threads = 2, .rounds = 10, .perturbation = usual_perturbation}, {&idle, 1});
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures.front(), "vacuous: no operations overlapped in 640 histories");
}

TEST(Histories, repeat_one_history_if_told_to) {
  const Subject place{"place", &make_trial<PlaceTrial<basic_buffer<Perturbed>>>};
  const RaceResult result =
      run_histories({.threads = 2, .rounds = 2, .repeats_history = true}, {&place, 1});
  EXPECT_EQ(figure(result, "histories"), 128U);
  // Each has as many operations as the others.
  EXPECT_EQ(figure(result, "recorded_operations") % 128, 0U);
}

/// The search refutes them only because threads overlap.
TEST(WrongDesigns, of_places_are_linearizable_in_one_thread) {
  for (const Subject& subject : std::span(wrong_designs).first<4>()) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      test::Random random(seed);
      const std::unique_ptr<Trial> trial = subject.make(random, 2);
      Clock clock;
      std::vector<Operation> history;
      for (std::uint8_t thread = 0; thread < 2; ++thread) {
        Log log;
        log.begin(clock, thread);
        trial->act(thread, random, log);
        history.insert(history.end(), log.operations().begin(), log.operations().end());
      }
      EXPECT_TRUE(trial->check(history).is_linearizable) << subject.name << ", seed " << seed;
    }
  }
}

class WrongHistoriesOf : public testing::TestWithParam<Subject> {};

TEST_P(WrongHistoriesOf, a_design_are_found) {
  const RaceResult result = run_histories(
      {.threads = 3, .rounds = 2000, .perturbation = usual_perturbation}, {&GetParam(), 1});
  ASSERT_FALSE(result.failures.empty()) << text_of(result);
  EXPECT_NE(result.failures.front().find("is not linearizable; --seed "), std::string::npos);
  EXPECT_NE(result.failures.front().find(" none  "), std::string::npos)
      << "the text names the operations that the search could not order";
}

INSTANTIATE_TEST_SUITE_P(All, WrongHistoriesOf, testing::ValuesIn(wrong_designs),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(WrongHistories, are_found_again_by_the_printed_seed) {
  const Subject counts_first = wrong_designs[3];
  RaceSettings settings{.threads = 3, .rounds = 2000, .perturbation = usual_perturbation};
  const RaceResult found = run_histories(settings, {&counts_first, 1});
  ASSERT_FALSE(found.failures.empty());
  const std::string& text = found.failures.front();
  settings.seed = std::stoull(text.substr(text.find("--seed ") + 7));
  settings.repeats_history = true;
  const RaceResult again = run_histories(settings, {&counts_first, 1});
  ASSERT_FALSE(again.failures.empty()) << text;
  EXPECT_NE(again.failures.front().find("history 0 of counts_first"), std::string::npos);
}

}  // namespace

namespace histories {
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name;
}
}  // namespace histories

void PrintTo(const Race& race, std::ostream* out) {
  *out << race.name;
}

}  // namespace byre::stress
