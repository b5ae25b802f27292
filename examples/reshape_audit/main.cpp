// SPDX-License-Identifier: BSL-1.0
// reshape_audit: finds code that relies on reshape being an alias, before reshape becomes a copy.
// See ../README.md.
#include "format.hpp"
#include "pipelines.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"

#include <algorithm>

namespace examples::reshape_audit {
namespace {

namespace shadow = byre::shadow;

/// The results of a pipeline in one ReshapeMode, and the reports. A user's audit would run its own
/// work in place of the pipeline in run_in().
struct Run {
  Results results;
  std::vector<shadow::Violation> reports;
};

Run run_in(ReshapeMode mode, const Pipeline& pipeline, Reshape reshape = unchanged) {
  shadow::reset_summary();
  const shadow::ReshapeModeScope scope(mode);
  Results results = pipeline.run(reshape);
  return {std::move(results), shadow::summary().triples};
}

bool are_equal(const Results& left, const Results& right) {
  return std::ranges::equal(left, right, are_same_bits);
}

/// Checks the rewritten pipeline in all modes. Returns a sentence for each fault.
std::vector<std::string> find_faults(const Pipeline& pipeline) {
  std::vector<std::string> faults;
  const Results meant = run_in(pipeline.meant, pipeline).results;
  for (const ReshapeMode mode :
       {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error, ReshapeMode::copy}) {
    const std::string where =
        std::string(pipeline.name) + ", rewritten, in mode " + std::string(name_of(mode));
    const Run run = run_in(mode, pipeline, pipeline.rewritten);
    if (!run.reports.empty()) {
      faults.push_back(where + ": byre still reports a violation.");
    }
    if (!are_equal(run.results, meant)) {
      faults.push_back(where + ": the results differ from the intended ones.");
    }
  }
  return faults;
}

Report work(const Arguments&) {
  shadow::set_violation_handler(
      [](const shadow::Violation&) noexcept {});  // reports are printed below
  Report report;
  for (const Pipeline& pipeline : all_pipelines) {
    const Run audited = run_in(ReshapeMode::warn, pipeline);
    Json reports = Json::array();
    report.text += std::string(pipeline.name) + ": " + pipeline.what + "\n";
    for (const shadow::Violation& violation : audited.reports) {
      reports.push_back(Json::parse(to_json(violation)));
      report.text += to_string(violation) + "\n";
    }
    report.text += audited.reports.empty() ? "does not rely on aliasing\n\n" : "\n";
    report.figures["pipelines"][pipeline.name] = {
        {"reports", reports},
        {"equal with copies", are_equal(run_in(ReshapeMode::copy, pipeline).results,
                                        run_in(ReshapeMode::alias, pipeline).results)}};
    if (pipeline.rewritten != nullptr) {
      for (const std::string& fault : find_faults(pipeline)) {
        report.faults.push_back(fault);
      }
    }
  }
  report.text += report.faults.empty()
                     ? "The rewritten pipelines cause no report, and are right in every mode.\n"
                     : "Some results are WRONG.\n";
  return report;
}

}  // namespace
}  // namespace examples::reshape_audit

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "reshape_audit",
       .about =
           R"(Audits small pipelines before reshape becomes a copy. Some of them rely on reshape
being an alias: in warn mode, byre reports where they do, and what to write instead.
Then the rewritten form of each pipeline is run: it must cause no report and compute
the intended results in every mode.
)",
       .options = {},
       .work = examples::reshape_audit::work},
      argc, argv);
}
