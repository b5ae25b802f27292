// SPDX-License-Identifier: BSL-1.0
#include "audit.hpp"
#include "evidence.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace examples::reshape_audit {
namespace {

namespace shadow = byre::shadow;
using shadow::ReshapeMode;

constexpr ReshapeMode all_modes[] = {ReshapeMode::alias, ReshapeMode::warn, ReshapeMode::error,
                                     ReshapeMode::copy};

/// What is wrong with the label, of each of its three lines; nothing if it is true. It shows at the line
/// of the access, or at those that are named for it.
std::string fault_of(const Label& label, const Evidence& evidence) {
  Lines named(label.seen.begin(), label.seen.end());
  if (evidence.shown().contains(label.access)) {
    named.insert(label.access);
  }
  const auto misses = [&](const Lines& lines) {
    return named.empty() || !std::ranges::includes(lines, named);
  };
  return misses(evidence.by_access()) ? "what is seen there is the same for aliases and copies"
         : misses(evidence.by_reshape(label.reshape))
             ? "what is seen there does not change if only that reshape copies"
         : misses(evidence.by_write(label.write))
             ? "what is seen there has not to do with that write, or whatever reshape does"
             : "";
}

/// The labels against what is computed: no report is looked at. What differs between aliases and copies
/// has to be at a line that a label names, and no other reshape may change anything. A label that is not
/// true is worth nothing, and what has none is a triple that was missed. Answers the labels that are
/// true.
std::vector<Label> check_labels(Audit& audit, const Evidence& evidence) {
  audit.differs = !evidence.by_access().empty();
  Lines unexplained = evidence.by_access();
  Lines unlabelled = evidence.reshapes();
  std::vector<Label> true_labels;
  for (const Label& label : audit.labels) {
    if (const std::string fault = fault_of(label, evidence); !fault.empty()) {
      audit.faults.push_back("The label " + to_string(label) + " is wrong: " + fault + ".");
      continue;
    }
    true_labels.push_back(label);
    unlabelled.erase(label.reshape);
    unexplained.erase(label.access);
    std::erase_if(unexplained, [&](std::uint32_t line) {
      return std::ranges::find(label.seen, line) != label.seen.end();
    });
  }
  for (const std::uint32_t line : unexplained) {
    audit.faults.push_back("A label is missing: what is seen at line " + std::to_string(line) +
                           " differs between aliases and copies.");
  }
  std::erase_if(unlabelled, [&](std::uint32_t line) { return evidence.by_reshape(line).empty(); });
  for (const std::uint32_t line : unlabelled) {
    audit.faults.push_back("A label is missing: what is seen changes if only the reshape at line " +
                           std::to_string(line) + " copies.");
  }
  // Of one label that is missing both may be seen.
  audit.triples.labelled = true_labels.size() + std::max(unexplained.size(), unlabelled.size());
  return true_labels;
}

/// Of labels that are reported; and each is of a rewrite that does as is meant.
void check_advice(Audit& audit) {
  for (const Label& label : audit.labels) {
    const bool is_open = label.advice == shadow::Advice::view_or_clone;
    const bool keeps_alias = label.advice == shadow::Advice::view && !label.is_mistake;
    if (!is_open && keeps_alias != (audit.pipeline.rewrite.meant == ReshapeMode::alias)) {
      audit.faults.push_back("The label " + to_string(label) +
                             " has an advice that does not do what is meant.");
    }
    for (const shadow::Violation& report : audit.reports) {
      if (!label.is_of(report)) {
        continue;
      }
      if (report.advice == label.advice) {
        ++audit.advised;
        audit.mistakes += label.is_mistake ? 1 : 0;
        audit.open += is_open ? 1 : 0;
      } else {
        audit.faults.push_back("Advised is " + std::string(to_string(report.advice)) + ", and " +
                               to_string(label.advice) + " is right: " + to_string(label) + ".");
      }
    }
  }
}

void check_reports(Audit& audit, const std::vector<Label>& true_labels) {
  const auto is_reported = [&](const Label& label) {
    return std::ranges::any_of(audit.reports,
                               [&](const auto& report) { return label.is_of(report); });
  };
  for (const shadow::Violation& report : audit.reports) {
    const auto matches = [&](const Label& label) { return label.is_of(report); };
    if (std::ranges::none_of(audit.labels, matches)) {
      audit.faults.push_back("Reported, and not labelled: " + to_string(report));
    }
  }
  for (const Label& label : audit.labels) {
    if (!is_reported(label)) {
      audit.faults.push_back("Labelled, and not reported: " + to_string(label) + ".");
    }
  }
  check_advice(audit);
  audit.triples.right = static_cast<std::size_t>(std::ranges::count_if(true_labels, is_reported));
  audit.triples.reported = audit.reports.size();
}

bool is_same_triple(const shadow::Violation& a, const shadow::Violation& b) noexcept {
  return shadow::same_site(a.reshape.site, b.reshape.site) &&
         shadow::same_site(a.write.site, b.write.site) &&
         shadow::same_site(a.access.site, b.access.site) && a.access_writes == b.access_writes;
}

/// Thrown is what is reported first, or nothing.
void check_error(Audit& audit, const Run& in_warn_mode, const Run& in_error_mode) {
  audit.error = in_error_mode.error;
  if (in_warn_mode.first.has_value() != in_error_mode.first.has_value()) {
    audit.faults.push_back(audit.error.empty() ? "Error mode throws nothing."
                                               : "Error mode throws: " + audit.error);
  } else if (in_warn_mode.first && !is_same_triple(*in_warn_mode.first, *in_error_mode.first)) {
    audit.faults.push_back("Error mode throws something else than is reported first: " +
                           audit.error);
  }
}

void check_rewrite(Audit& audit) {
  const Rewrite& rewrite = audit.pipeline.rewrite;
  if ((rewrite.run == nullptr) != audit.labels.empty()) {
    audit.faults.push_back("What relies on aliases is to be rewritten, and nothing else is.");
    return;
  }
  if (rewrite.run == nullptr) {
    return;
  }
  const auto meant = run_in(rewrite.meant, audit.pipeline.run).journal.all();
  for (const ReshapeMode mode : all_modes) {
    const Run run = run_in(mode, rewrite.run);
    const std::string in_mode = " in mode " + std::string(name_of(mode));
    for (const shadow::Violation& report : run.reports) {
      audit.faults.push_back("The rewritten pipeline is reported" + in_mode + ": " +
                             to_string(report));
    }
    const auto& seen = run.journal.all();
    if (!std::ranges::equal(seen, meant, {}, &Seen::elements, &Seen::elements)) {
      audit.faults.push_back("The rewritten pipeline computes something else" + in_mode + ".");
    }
  }
}

}  // namespace

void Score::add(const Score& other) noexcept {
  labelled += other.labelled;
  reported += other.reported;
  right += other.right;
}

Audit audit(const Pipeline& pipeline, const std::vector<Label>& all_labels) {
  Audit audit{.pipeline = pipeline};
  std::ranges::copy_if(all_labels, std::back_inserter(audit.labels), [&](const Label& label) {
    return std::string_view(label.pipeline) == pipeline.name;
  });
  const Evidence evidence(pipeline);
  const Run watched = run_in(ReshapeMode::warn, pipeline.run);
  audit.reports = watched.reports;
  if (watched.journal.all() != evidence.aliased().journal.all()) {
    audit.faults.push_back("What is computed changes where it is watched.");
  }
  check_reports(audit, check_labels(audit, evidence));
  check_error(audit, watched, run_in(ReshapeMode::error, pipeline.run));
  check_rewrite(audit);
  return audit;
}

Score score_of_triples(const std::vector<Audit>& audits) noexcept {
  Score score;
  for (const Audit& audit : audits) {
    score.add(audit.triples);
  }
  return score;
}

std::size_t count_advised(const std::vector<Audit>& audits) noexcept {
  std::size_t count = 0;
  for (const Audit& audit : audits) {
    count += audit.advised;
  }
  return count;
}

std::size_t count_mistakes(const std::vector<Audit>& audits) noexcept {
  std::size_t count = 0;
  for (const Audit& audit : audits) {
    count += audit.mistakes;
  }
  return count;
}

std::size_t count_open(const std::vector<Audit>& audits) noexcept {
  std::size_t count = 0;
  for (const Audit& audit : audits) {
    count += audit.open;
  }
  return count;
}

Score score_of_pipelines(const std::vector<Audit>& audits) noexcept {
  Score score;
  for (const Audit& audit : audits) {
    const std::size_t differs = audit.differs ? 1 : 0;
    const std::size_t reported = audit.reports.empty() ? 0 : 1;
    score.add({differs, reported, differs * reported});
  }
  return score;
}

}  // namespace examples::reshape_audit
