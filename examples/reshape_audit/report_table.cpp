// SPDX-License-Identifier: BSL-1.0
#include "format.hpp"
#include "report.hpp"

#include <algorithm>

namespace examples::reshape_audit {
namespace {

std::string row(const Audit& audit) {
  std::string advice;
  std::uint64_t times = 0;
  for (const auto& report : audit.reports) {
    advice += (advice.empty() ? "" : ", ") + std::string(to_string(report.advice));
    times += report.count;
  }
  const Rewrite& rewrite = audit.pipeline.rewrite;
  const char* const meant = rewrite.run == nullptr      ? "either"
                            : rewrite.meant == as_alias ? "as an alias"
                                                        : "as a copy";
  return format("\n%-27s %8zu %8zu %8zu %8llu  %-11s  ", audit.pipeline.name,
                audit.triples.labelled, audit.triples.reported, audit.triples.right,
                static_cast<unsigned long long>(times), meant) +
         (advice.empty() ? "-" : advice);
}

std::string score(const char* of, const Score& score) {
  return format("%-10s precision %.3f, recall %.3f: %zu labelled, %zu reported, %zu both\n", of,
                score.precision(), score.recall(), score.labelled, score.reported, score.right);
}

std::string numbers(const std::vector<double>& elements) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t at = 0; at < std::min(most, elements.size()); ++at) {
    text += format(" %g", elements[at]);
  }
  return text + (elements.size() > most ? " ..." : "");
}

}  // namespace

bool Report::is_right() const noexcept {
  return std::ranges::all_of(audits, [](const Audit& audit) { return audit.faults.empty(); });
}

std::string table(const Report& report, bool in_full) {
  std::string text = format("%-27s %8s %8s %8s %8s  %-11s  %s", "pipeline", "labelled", "reported",
                            "right", "times", "is meant", "advice");
  for (const Audit& audit : report.audits) {
    text += row(audit);
  }
  text += "\n\n" + score("triples", score_of_triples(report.audits)) +
          score("pipelines", score_of_pipelines(report.audits));
  text += format(
      "advice     as labelled in %zu of %zu; in %zu of these what it keeps was never meant, and "
      "%zu leave open which of two is meant\n",
      count_advised(report.audits), score_of_triples(report.audits).labelled,
      count_mistakes(report.audits), count_open(report.audits));
  text += report.is_right() ? "Every label is true, and nothing that was rewritten is reported.\n"
                            : "Something is WRONG.\n";
  const std::string summary = to_string(report.summary);
  return text + "\n" + (in_full ? summary : summary.substr(0, summary.find('\n') + 1));
}

std::string transcript(const Pipeline& pipeline, byre::shadow::ReshapeMode mode, const Run& run) {
  std::string text = std::string(pipeline.name) + " in mode " + std::string(name_of(mode)) + "\n";
  for (const Seen& seen : run.journal.all()) {
    text += format("  saw at line %u:", seen.line) + numbers(seen.elements) + "\n";
  }
  if (!run.error.empty()) {
    return text + "threw: " + run.error + "\n";
  }
  for (const auto& report : run.reports) {
    text += "reported: " + to_string(report) + "\n";
  }
  return text;
}

}  // namespace examples::reshape_audit
