// SPDX-License-Identifier: BSL-1.0
// reshape_audit: what relies on reshape being an alias, before it becomes a copy. See ../README.md.
#include "format.hpp"
#include "pipelines.hpp"
#include "run_program.hpp"
#include "same_bits.hpp"

#include <algorithm>

namespace examples::reshape_audit {
namespace {

namespace shadow = byre::shadow;

/// The results of a pipeline in a mode of reshape, and what was reported. A program's own audit has these lines around
/// its work.
struct Run {
  Results results;
  std::vector<shadow::Violation> reports;
};

Run run_in(ReshapeMode mode, const Pipeline& pipeline, Reshape reshape = as_found) {
  shadow::reset_summary();
  const shadow::ReshapeModeScope scope(mode);
  Results results = pipeline.run(reshape);
  return {std::move(results), shadow::summary().triples};
}

bool are_same(const Results& left, const Results& right) {
  return std::ranges::equal(left, right, are_same_bits);
}

/// The faults of the rewritten form, a sentence each.
std::vector<std::string> faults_of(const Pipeline& pipeline) {
  std::vector<std::string> faults;
  const Results meant = run_in(pipeline.meant, pipeline).results;
  for (const ReshapeMode mode :
       {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error, ReshapeMode::copy}) {
    const std::string where =
        std::string(pipeline.name) + ", rewritten, in mode " + std::string(name_of(mode));
    const Run run = run_in(mode, pipeline, pipeline.rewritten);
    if (!run.reports.empty()) {
      faults.push_back(where + ": is still reported.");
    }
    if (!are_same(run.results, meant)) {
      faults.push_back(where + ": computes something else than is meant.");
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
    report.text += audited.reports.empty() ? "relies on nothing\n\n" : "\n";
    report.figures["pipelines"][pipeline.name] = {
        {"reports", reports},
        {"copies compute the same", are_same(run_in(ReshapeMode::copy, pipeline).results,
                                             run_in(ReshapeMode::alias, pipeline).results)}};
    if (pipeline.rewritten != nullptr) {
      for (const std::string& fault : faults_of(pipeline)) {
        report.faults.push_back(fault);
      }
    }
  }
  report.text += report.faults.empty()
                     ? "Rewritten, none is reported, and all compute what is meant in every mode.\n"
                     : "Something is WRONG.\n";
  return report;
}

}  // namespace
}  // namespace examples::reshape_audit

int main(int argc, char** argv) {
  return examples::run_program(
      {.name = "reshape_audit",
       .about =
           R"(Runs small pipelines, of which some rely on reshape being an alias, as an audit before reshape
becomes a copy: in warn mode, where byre reports what relies on aliases and what to write instead.
Each is then run as rewritten, which has to be without a report and mean the same in every mode.
)",
       .options = {},
       .work = examples::reshape_audit::work},
      argc, argv);
}
