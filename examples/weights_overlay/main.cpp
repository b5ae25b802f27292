// SPDX-License-Identifier: BSL-1.0
// weights_overlay: many requests, each with its own changes of one model. See ../README.md.
#include "check.hpp"
#include "model.hpp"
#include "options.hpp"
#include "program.hpp"
#include "report.hpp"
#include "run.hpp"

#include <cstdio>

namespace examples::weights_overlay {
namespace {

ExitCode work(const Options& options) {
  JsonOutput json_output(options.json);
  const ModelFiles files(options.plan);
  static_cast<void>(output_of(files.map()));  // so that all runs find the files' pages in memory
  Report report{.plan = options.plan};
  for (const Copying copying : {Copying::model, Copying::layers, Copying::pages}) {
    report.runs.push_back(run(copying, files, options.plan));
  }
  report.faults = check(report.runs, options.plan);
  if (!files.are_as_written()) {
    report.faults.push_back("The model's files are not as they were written.");
  }
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
