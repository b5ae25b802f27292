// SPDX-License-Identifier: BSL-1.0
// reshape_audit: what reports of code that relies on reshape being an alias are worth. See ../README.md.
#include "audit.hpp"
#include "options.hpp"
#include "program.hpp"
#include "report.hpp"

#include <cstdio>

namespace examples::reshape_audit {
namespace {

namespace shadow = byre::shadow;

ExitCode run_only(const Options& options) {
  for (const Pipeline& pipeline : options.pipelines) {
    print(transcript(pipeline, *options.mode, run_in(*options.mode, pipeline.run)));
  }
  return exit_success;
}

/// Of the pipelines as an audited program would run them: all in warn mode, once.
shadow::Summary summary_of(const Pipelines& pipelines) {
  shadow::reset_summary();
  const shadow::ReshapeModeScope scope(shadow::ReshapeMode::warn);
  for (const Pipeline& pipeline : pipelines) {
    Journal journal;
    pipeline.run(journal);
  }
  return shadow::summary();
}

ExitCode work(const Options& options) {
  const QuietReports quiet;
  if (options.mode) {
    return run_only(options);
  }
  JsonOutput json_output(options.json);
  const std::vector<Label> labels = all_labels();
  Report report;
  for (const Pipeline& pipeline : options.pipelines) {
    report.audits.push_back(audit(pipeline, labels));
  }
  report.summary = summary_of(options.pipelines);
  json_output.deliver([&] { return json(report); }, [&] { return table(report, options.report); });
  for (const Audit& audit : report.audits) {
    for (const std::string& fault : audit.faults) {
      std::fprintf(stderr, "reshape_audit: %s: %s\n", audit.pipeline.name, fault.c_str());
    }
  }
  return report.is_right() ? exit_success : exit_failure;
}

}  // namespace
}  // namespace examples::reshape_audit

int main(int argc, char** argv) {
  using namespace examples::reshape_audit;
  return examples::run_program("reshape_audit", "Give one --pipeline.", argc, argv, parse_options,
                               help_text, work);
}
