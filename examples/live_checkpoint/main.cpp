// SPDX-License-Identifier: BSL-1.0
// live_checkpoint: consistent snapshots of a model that keeps being trained. See ../README.md.
#include "check.hpp"
#include "corpus.hpp"
#include "delta.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "restore.hpp"
#include "run.hpp"
#include "trace_file.hpp"
#include "workspace.hpp"

#include <byre/files/output_file.hpp>
#include <cstdio>

namespace examples::live_checkpoint {
namespace {

/// Row by row, for whoever uses the snapshots.
void write_words(const Vocabulary& vocabulary, const std::filesystem::path& directory) {
  byre::OutputFile file(directory / "words.txt");
  for (const std::string& word : vocabulary.words()) {
    file.write((word + "\n").data(), word.size() + 1);
  }
  file.commit();
}

/// As if each row were a tile, and had changed.
std::uint64_t space_needed(const Plan& plan, const Options& options, bool keeps_files) {
  const std::uint64_t runs_at_once = keeps_files ? options.modes.size() : 1;
  const std::uint64_t other_nbytes = 4096 + plan.rows * tile_number_nbytes;
  std::uint64_t nbytes = 0;
  if (__builtin_mul_overflow(plan.table_nbytes() + other_nbytes, plan.snapshots() * runs_at_once,
                             &nbytes)) {
    throw UsageError("That many snapshots fit on no disk. Give a larger --snapshot-every.");
  }
  return nbytes;
}

ExitCode train_and_report(const Options& options) {
  JsonOutput json_output(options.json);
  Progress progress(stderr);
  Corpus corpus = read_corpus(options.text, options.tokens, progress);
  const Plan plan = settle_plan(options, corpus);
  const RunSettings settings = settle_run(options);
  Report report{&corpus, &plan, {}, {}};
  progress.print_line(describe_work(report));

  Workspace workspace(options.output, options.keep);
  workspace.require_space(space_needed(plan, options, workspace.keeps_files()));
  const auto expected = replay(plan, progress);
  TraceFile trace(options.trace);
  for (const Mode mode : options.modes) {
    report.runs.push_back(run(mode, plan, settings, workspace.create_for(mode), progress));
    const auto faults = check(to_string(mode), report.runs.back().written, expected, progress);
    report.faults.insert(report.faults.end(), faults.begin(), faults.end());
    if (!faults.empty()) {
      workspace.keep_files();  // to be looked at
    }
    workspace.done_with(mode);
  }
  if (const std::string text = trace.write(); !text.empty()) {
    progress.print_line(text);
  }
  if (workspace.keeps_files()) {
    write_words(corpus.vocabulary, workspace.directory());
    progress.print_line("The snapshots are in " + workspace.directory().string() + ".");
  }
  json_output.deliver([&] { return json(report, settings); }, [&] { return "\n" + table(report); });
  for (const std::string& fault : report.faults) {
    std::fprintf(stderr, "live_checkpoint: %s\n", fault.c_str());
  }
  return report.faults.empty() ? exit_success : exit_failure;
}

ExitCode work(const Options& options) {
  if (options.restore) {
    print(restore(*options.restore, *options.output));
    return exit_success;
  }
  return train_and_report(options);
}

}  // namespace
}  // namespace examples::live_checkpoint

int main(int argc, char** argv) {
  using namespace examples::live_checkpoint;
  return examples::run_program("live_checkpoint", "Give fewer --tokens or --dimensions.", argc,
                               argv, parse_options, help_text, work);
}
