// SPDX-License-Identifier: BSL-1.0
/// Runs a scenario (the program of a race) in several threads for many rounds, perturbed or not,
/// and compares everything that can be counted exactly.
#pragma once

#include <functional>
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

  /// Called by one thread before a round.
  virtual void prepare() = 0;
  /// Called by all threads at once.
  virtual void act(unsigned thread) = 0;
  /// Called by one thread after the round.
  virtual void check() = 0;
  /// Called after the last round. Completes the result.
  virtual void finish(RaceResult&) {}
};

using MakeScenario = std::function<std::unique_ptr<Scenario>(Fixture&)>;

/// Throws the exceptions of Race::Run.
RaceResult run_scenario(const RaceSettings& settings, const MakeScenario& make);

template <class Derived>
RaceResult run_scenario(const RaceSettings& settings) {
  return run_scenario(settings, [](Fixture& fixture) -> std::unique_ptr<Scenario> {
    return std::make_unique<Derived>(fixture);
  });
}

/// The scenarios of tensors. Tensors exist only over sync::Default, so perturbation cannot delay
/// their atomic steps; it delays the gaps between their operations.
RaceResult run_reshapes_of_tensors(const RaceSettings& settings);
RaceResult run_views_of_one_alias(const RaceSettings& settings);

}  // namespace byre::stress::races
