// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "failure.hpp"

#include <sstream>

namespace examples::reshape_audit {
namespace {

namespace po = boost::program_options;

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("pipeline", po::value<std::string>()->value_name("NAME"),
                        "only this pipeline");
  options.add_options()("report", "print every report in full as well");
  options.add_options()("mode", po::value<std::string>()->value_name("MODE"),
                        "only run the pipelines with reshape in this mode (alias, warn, error or "
                        "copy), and print what they see, and what is reported or thrown");
  add_json_option(options);
  return options;
}

Pipelines all_pipelines() {
  Pipelines all;
  for (const Pipelines& some :
       {imaging_pipelines(), attention_pipelines(), parsing_pipelines(), training_pipelines(),
        simulation_pipelines(), normalization_pipelines(), snapshot_pipelines()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Pipelines pipelines_named(const std::string& name) {
  std::string names;
  for (const Pipeline& pipeline : all_pipelines()) {
    if (pipeline.name == name) {
      return {pipeline};
    }
    names += std::string(names.empty() ? "" : ", ") + pipeline.name;
  }
  throw UsageError("--pipeline: there is no '" + name + "'. There are " + names + ".");
}

byre::shadow::ReshapeMode mode_of(const std::string& name) {
  const auto mode = byre::shadow::mode_named(name);
  if (!mode) {
    throw UsageError("--mode takes alias, warn, error or copy, not '" + name + "'.");
  }
  return *mode;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options());
  Options options;
  options.help = given.count("help") != 0;
  options.report = given.count("report") != 0;
  options.json = json_option(given);
  options.pipelines = given.count("pipeline") != 0
                          ? pipelines_named(given["pipeline"].as<std::string>())
                          : all_pipelines();
  if (given.count("mode") != 0) {
    options.mode = mode_of(given["mode"].as<std::string>());
    if (options.report || options.json.is_given) {
      throw UsageError("--report and --json are of the audit, and --mode only runs pipelines.");
    }
  }
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: reshape_audit [options]

Runs small pipelines, of which some rely on reshape being an alias, as an audit before reshape
becomes a copy would: with reshape in warn mode, where byre reports what relies on aliases. The
pipelines are labelled, and the labels checked by comparing what is computed with aliases and with
copies. Then the reports are held against the labels: which share of them is right (precision), and
which share of the labels was reported (recall). Pipelines that rely on aliases are also run as
rewritten, which has to be without a report and mean the same in every mode.
)" << described_options()
       << "\nPipelines:\n";
  for (const Pipeline& pipeline : all_pipelines()) {
    text << "  " << pipeline.name << ": " << pipeline.what << "\n";
  }
  text << R"(
Exit codes: 0 all is right, 1 something is not, or something failed, 2 wrong usage.
)";
  return text.str();
}

}  // namespace examples::reshape_audit
