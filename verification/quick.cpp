// SPDX-License-Identifier: BSL-1.0
/// byre-verify-quick runs the scenarios of the share word, buffers and storages, for a first
/// verdict after a change of core/byre/cow. byre-verify also runs the scenarios of pages, pins,
/// tiles and devices, and searches with wider bounds.
#include <algorithm>

#include "runner/job.hpp"

namespace byre::verification {
namespace {

/// One preemption fewer than byre-verify uses, which leaves a fifth of the executions. There are
/// two exceptions for scenarios with cover points (states that some execution has to reach): the
/// bound is not lowered to 0, and it is not lowered for four threads, since some cover points would
/// not be reached.
Bound bound_of(const Scenario& scenario) {
  const Bound bound = scenario.quick;
  const bool needs_all =
      !scenario.cover.empty() && (scenario.threads > 3 || bound.preemptions == 1);
  return bound.is_full() || bound.preemptions == 0 || needs_all ? bound
                                                                : Bound(bound.preemptions - 1);
}

int run_all() {
  std::vector<Job> jobs;
  for (const Scenario* scenario : all_scenarios()) {
    jobs.push_back(
        {.scenario = scenario, .mutation = {}, .search = {.bound = bound_of(*scenario)}});
  }
  const std::vector<Result> results = run(jobs, 2, report(jobs.size()));
  print(results);
  return std::ranges::all_of(results, &Result::is_as_expected) ? 0 : 1;
}

}  // namespace
}  // namespace byre::verification

int main() {
  return byre::test::run_main("byre-verify-quick", &byre::verification::run_all);
}
