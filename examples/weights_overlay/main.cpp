// SPDX-License-Identifier: BSL-1.0
// weights_overlay: many requests, each with its own changes of one model. See ../README.md.
#include "model.hpp"
#include "options.hpp"
#include "program.hpp"
#include "report.hpp"
#include "run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace examples::weights_overlay {
namespace {

bool are_same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

/// A request has the layers it changes for itself, and with deep copies all.
std::vector<std::string> check_layers(const RunResult& run, const Plan& plan) {
  std::vector<std::string> faults;
  const std::size_t own_layers = run.cloning == Cloning::deep ? plan.layers : plan.changed;
  const std::size_t expected_nbytes = plan.requests * own_layers * plan.layer_nbytes();
  if (run.copied_nbytes != expected_nbytes) {
    faults.push_back(std::to_string(run.copied_nbytes) + " bytes were copied by " +
                     to_string(run.cloning) + ", not " + std::to_string(expected_nbytes) + ".");
  }
  for (std::size_t number = 0; number < plan.requests; ++number) {
    if (run.changed_layers[number] != plan.changed) {
      faults.push_back("Request " + std::to_string(number) + " over " + to_string(run.cloning) +
                       ": " + std::to_string(run.changed_layers[number]) +
                       " layers are not the model's, and " + std::to_string(plan.changed) +
                       " were to be changed.");
    }
  }
  return faults;
}

/// What is wrong, a sentence each.
std::vector<std::string> check(const Report& report, const ModelFiles& files) {
  std::vector<std::string> faults = check_layers(report.deep, report.plan);
  std::ranges::move(check_layers(report.lazy, report.plan), std::back_inserter(faults));
  for (std::size_t number = 0; number < report.plan.requests; ++number) {
    if (!are_same_bits(report.deep.outputs[number], report.lazy.outputs[number])) {
      faults.push_back("Request " + std::to_string(number) +
                       ": its output over lazy clones is not that over deep copies.");
    }
  }
  if (!files.are_as_written()) {
    faults.push_back("The model's files are not as they were written.");
  }
  return faults;
}

ExitCode work(const Options& options) {
  JsonOutput json_output(options.json);
  const ModelFiles files(options.plan);
  const Model base = files.map();
  static_cast<void>(output_of(base));  // so that both runs find the files' pages in memory
  Report report{.plan = options.plan};
  report.deep = run(Cloning::deep, base, options.plan);
  report.lazy = run(Cloning::lazy, base, options.plan);
  report.faults = check(report, files);
  json_output.deliver([&] { return json(report); }, [&] { return table(report); });
  for (const std::string& fault : report.faults) {
    std::fprintf(stderr, "weights_overlay: %s\n", fault.c_str());
  }
  return report.faults.empty() ? exit_success : exit_failure;
}

}  // namespace
}  // namespace examples::weights_overlay

int main(int argc, char** argv) {
  using namespace examples::weights_overlay;
  return examples::run_program("weights_overlay", "Give fewer --requests or --layers.", argc, argv,
                               parse_options, help_text, work);
}
