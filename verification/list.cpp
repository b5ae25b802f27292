// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <cstdlib>
#include <map>

#include "scenario.hpp"

namespace byre::verification {
namespace {

std::map<std::string_view, Scenario>& scenarios() {
  static std::map<std::string_view, Scenario> all;
  return all;
}

}  // namespace

const Scenario& listed(const Scenario& scenario) {
  const auto [at, is_new] = scenarios().try_emplace(scenario.name, scenario);
  if (!is_new) {
    std::fprintf(stderr, "two scenarios are named %s\n", std::string(scenario.name).c_str());
    std::abort();
  }
  return at->second;
}

std::vector<const Scenario*> all_scenarios() {
  std::vector<const Scenario*> all;
  for (const auto& [name, scenario] : scenarios()) {
    all.push_back(&scenario);
  }
  return all;
}

}  // namespace byre::verification
