// SPDX-License-Identifier: BSL-1.0
// branching_cache: many continuations of one prompt, in three ways. See ../README.md.
#include "check.hpp"
#include "options.hpp"
#include "program.hpp"
#include "report.hpp"
#include "run.hpp"

#include <cstdio>

namespace examples::branching_cache {
namespace {

ExitCode work(const Options& options) {
  JsonOutput json_output(options.json);
  Report report{options.plan, run(options.plan), {}};
  report.faults = check(report.results, report.plan);
  json_output.deliver([&] { return json(report); }, [&] { return table(report); });
  for (const std::string& fault : report.faults) {
    std::fprintf(stderr, "branching_cache: %s\n", fault.c_str());
  }
  return report.faults.empty() ? exit_success : exit_failure;
}

}  // namespace
}  // namespace examples::branching_cache

int main(int argc, char** argv) {
  using namespace examples::branching_cache;
  return examples::run_program("branching_cache",
                               "Give fewer --branches, --eager-branches or --layers.", argc, argv,
                               parse_options, help_text, work);
}
