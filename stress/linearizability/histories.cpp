// SPDX-License-Identifier: BSL-1.0
#include "histories.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "../perturbed/perturbed.hpp"
#include "../races/run_scenario.hpp"
#include "../races/spin_barrier.hpp"
#include "slot_layouts.hpp"

namespace byre::stress::histories {
namespace {

/// Sums over histories.
struct Sums {
  std::uint64_t operations = 0;
  std::uint64_t overlapping = 0;  // operations
  std::uint64_t histories_with_overlap = 0;
  std::uint64_t longest = 0;  // the largest number of pairs that a search has visited
  RareSteps rare;

  Sums& operator+=(const Sums& other) noexcept {
    operations += other.operations;
    overlapping += other.overlapping;
    histories_with_overlap += other.histories_with_overlap;
    longest = std::max(longest, other.longest);
    rare += other.rare;
    return *this;
  }
};

/// A round is a batch of histories, so that one thread prepares, and all threads check, many at a
/// time.
class Histories final : public races::Scenario {
 public:
  Histories(races::Fixture& fixture, const RaceSettings& settings,
            std::span<const Subject> subjects)
      : fixture_(fixture),
        settings_(settings),
        subjects_(subjects),
        threads_(std::min(fixture.threads, most_threads_of_history)),
        barrier_(threads_),
        batch_(histories_of_round),
        sums_(threads_) {
    fixture.counts_copies = false;
  }

  void prepare() override {
    for (std::size_t at = 0; at < batch_.size(); ++at) {
      History& history = batch_[at];
      history.number = settings_.repeats_history ? 0 : fixture_.round * batch_.size() + at;
      history.seed = fixture_.seed + history.number;
      test::Random random(history.seed);
      history.threads = random.number(2U, threads_);
      history.subject = &random.one_of(subjects_);
      history.trial = history.subject->make(random, history.threads);
      history.clock = std::make_unique<Clock>();
    }
  }

  void act(unsigned thread) override {
    if (thread >= threads_) {
      return;
    }
    const RareSteps before = rare_steps;
    for (History& history : batch_) {
      Log& log = history.logs[thread];
      log.begin(*history.clock, static_cast<std::uint8_t>(thread));
      const std::uint64_t seed = seed_of_thread(history.seed, thread);
      test::Random random(seed);
      const ScopedPerturbation perturbation(is_perturbed() ? history_perturbation : no_perturbation,
                                            seed);
      barrier_.arrive_and_wait();
      if (thread < history.threads) {
        history.trial->act(thread, random, log);
      }
    }
    const ScopedPerturbation unperturbed(no_perturbation, 0);
    barrier_.arrive_and_wait();
    sums_[thread].sums.rare += {rare_steps.refills - before.refills, rare_steps.held - before.held};
    for (std::size_t at = thread; at < batch_.size(); at += threads_) {
      check(thread, batch_[at]);
    }
  }

  /// Reports the shortest history that failed.
  void check() override {
    const OfThread* shortest = nullptr;
    for (const OfThread& each : sums_) {
      if (!each.failure.empty() &&
          (shortest == nullptr || each.failed_operations < shortest->failed_operations)) {
        shortest = &each;
      }
    }
    if (shortest != nullptr) {
      fixture_.fail(shortest->failure);
    }
  }

  void finish(RaceResult& result) override {
    Sums all;
    for (const OfThread& each : sums_) {
      all += each.sums;
    }
    const std::uint64_t histories = result.rounds * batch_.size();
    result.figures = {{"histories", histories},
                      {"histories_with_overlap", all.histories_with_overlap},
                      {"recorded_operations", all.operations},
                      {"overlapping_operations", all.overlapping},
                      {"refills", all.rare.refills},
                      {"held_stores", all.rare.held},
                      {"longest_search", all.longest}};
    if (is_perturbed() && result.rounds >= 10 && all.overlapping == 0) {
      result.failures.push_back("vacuous: no operations overlapped in " +
                                std::to_string(histories) + " histories");
    }
  }

 private:
  bool is_perturbed() const noexcept { return settings_.perturbation != no_perturbation; }

  struct History {
    std::uint64_t number = 0;
    std::uint64_t seed = 0;
    unsigned threads = 0;
    const Subject* subject = nullptr;
    std::unique_ptr<Trial> trial;
    std::unique_ptr<Clock> clock;
    std::array<Log, most_threads_of_history> logs;
  };
  struct alignas(64) OfThread {
    Sums sums;
    Log log;  // of operations after the history
    std::vector<Operation> operations;
    std::string failure{};  // the shortest history that failed
    std::size_t failed_operations = 0;
  };

  void check(unsigned thread, History& history) {
    OfThread& mine = sums_[thread];
    mine.log.begin(*history.clock, most_threads_of_history);
    history.trial->finish(mine.log);
    mine.operations = mine.log.operations();
    for (unsigned each = 0; each < history.threads; ++each) {
      const auto& logged = history.logs[each].operations();
      mine.operations.insert(mine.operations.end(), logged.begin(), logged.end());
    }
    const Verdict verdict = history.trial->check(mine.operations);
    const std::size_t overlaps = overlapping(mine.operations);
    mine.sums += {.operations = mine.operations.size(),
                  .overlapping = overlaps,
                  .histories_with_overlap = overlaps != 0 ? 1U : 0U,
                  .longest = verdict.visited,
                  .rare = {}};
    fixture_.count_logged(thread, mine.operations.size());
    if (!verdict.is_linearizable &&
        (mine.failure.empty() || mine.operations.size() < mine.failed_operations)) {
      std::string text = "history " + std::to_string(history.number) + " of " +
                         std::string(history.subject->name) + " is not linearizable; --seed " +
                         std::to_string(history.seed) + " --repeat-history runs it again";
      for (const std::string& line : lines_of(*history.trial, mine.operations, verdict)) {
        text += "\n      " + line;
      }
      mine.failure = std::move(text);
      mine.failed_operations = mine.operations.size();
    }
    history.trial.reset();
  }

  races::Fixture& fixture_;
  const RaceSettings& settings_;
  const std::span<const Subject> subjects_;
  const unsigned threads_;
  races::SpinBarrier barrier_;
  std::vector<History> batch_;
  std::vector<OfThread> sums_;
};

}  // namespace

RaceResult run_histories(const RaceSettings& settings, std::span<const Subject> subjects) {
  return races::run_scenario(settings,
                             [&](races::Fixture& fixture) -> std::unique_ptr<races::Scenario> {
                               return std::make_unique<Histories>(fixture, settings, subjects);
                             });
}

std::vector<std::string> lines_of(const Trial& trial, const std::vector<Operation>& history,
                                  const Verdict& verdict) {
  std::vector<std::size_t> by_start(history.size());
  for (std::size_t at = 0; at < by_start.size(); ++at) {
    by_start[at] = at;
  }
  std::sort(by_start.begin(), by_start.end(), [&](std::size_t left, std::size_t right) {
    return history[left].start < history[right].start;
  });
  std::vector<std::string> lines{"thread  start  end  place in the longest order that was found"};
  for (const std::size_t at : by_start) {
    const Operation& operation = history[at];
    if (operation.object != verdict.object) {
      continue;
    }
    const auto place = std::find(verdict.order.begin(), verdict.order.end(), at);
    char columns[64];
    std::snprintf(columns, sizeof columns, "%6u %6u %4u  %5s  ", operation.thread, operation.start,
                  operation.end,
                  place == verdict.order.end()
                      ? "none"
                      : std::to_string(place - verdict.order.begin() + 1).c_str());
    lines.push_back(columns + trial.text(operation));
  }
  return lines;
}

}  // namespace byre::stress::histories
