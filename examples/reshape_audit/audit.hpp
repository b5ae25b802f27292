// SPDX-License-Identifier: BSL-1.0
/// The audit: what byre reports of the pipelines, held against their labels, and the labels against
/// what the pipelines compute.
#pragma once

#include "label.hpp"
#include "run.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace examples::reshape_audit {

/// How many were labelled, reported, and both. Labels of which a line is not true are none, and what
/// differs without one counts as labelled: whoever forgot it, byre did not report it as labelled.
struct Score {
  std::size_t labelled = 0;
  std::size_t reported = 0;
  std::size_t right = 0;

  /// The share of what was reported that is labelled; 1 of nothing.
  double precision() const noexcept { return share(reported); }
  /// The share of what is labelled that was reported; 1 of nothing.
  double recall() const noexcept { return share(labelled); }
  void add(const Score& other) noexcept;

 private:
  double share(std::size_t all) const noexcept {
    return all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
  }
};

struct Audit {
  Pipeline pipeline;
  std::vector<Label> labels{};
  std::vector<byre::shadow::Violation> reports{};  ///< in warn mode
  std::string error{};                             ///< in error mode: what was thrown
  bool differs = false;                            ///< what is seen, between aliases and copies
  Score triples{};
  std::size_t advised = 0;            ///< reports that advise as labelled
  std::size_t mistakes = 0;           ///< of those, where the code does what was never meant
  std::size_t open = 0;               ///< and where the author is to know which of two is meant
  std::vector<std::string> faults{};  ///< a sentence each
};

/// Runs the pipeline in every mode, and its rewritten form too. One thread.
Audit audit(const Pipeline& pipeline, const std::vector<Label>& all_labels);

Score score_of_triples(const std::vector<Audit>& audits) noexcept;
/// How many reports advise as labelled.
std::size_t count_advised(const std::vector<Audit>& audits) noexcept;
std::size_t count_mistakes(const std::vector<Audit>& audits) noexcept;
std::size_t count_open(const std::vector<Audit>& audits) noexcept;
/// Of pipelines: those of which something that is seen differs, and those with a report.
Score score_of_pipelines(const std::vector<Audit>& audits) noexcept;

}  // namespace examples::reshape_audit
