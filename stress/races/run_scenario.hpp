// SPDX-License-Identifier: BSL-1.0
/// Runs a scenario: the same threads play it for many rounds, perturbed or not. What can be counted
/// exactly is counted and compared.
#pragma once

#include <memory>

#include "fixture.hpp"
#include "race.hpp"

namespace byre::stress::races {

class Scenario {
 public:
  Scenario() = default;
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// One thread runs it before a round.
  virtual void prepare() = 0;
  /// All threads run it at once.
  virtual void act(unsigned thread) = 0;
  /// One thread runs it after the round.
  virtual void check() = 0;
};

using MakeScenario = std::unique_ptr<Scenario> (*)(Fixture&);

/// Throws as Race::run.
RaceResult run_scenario(const RaceSettings& settings, MakeScenario make);

template <class Derived>
RaceResult run_scenario(const RaceSettings& settings) {
  return run_scenario(settings, [](Fixture& fixture) -> std::unique_ptr<Scenario> {
    return std::make_unique<Derived>(fixture);
  });
}

/// The scenarios of tensors, which have one Sync, the one that ships: perturbed are the gaps between their operations.
RaceResult run_reshapes_of_tensors(const RaceSettings& settings);
RaceResult run_views_of_one_alias(const RaceSettings& settings);

}  // namespace byre::stress::races
