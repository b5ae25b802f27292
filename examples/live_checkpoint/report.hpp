// SPDX-License-Identifier: BSL-1.0
/// What the program found out, as a table for people and as JSON for programs. Both say the same.
#pragma once

#include "corpus.hpp"
#include "run.hpp"
#include "training.hpp"

#include <string>
#include <vector>

namespace examples::live_checkpoint {

struct Report {
  const Corpus* corpus;
  const Plan* plan;
  std::vector<RunResult> runs;
  std::vector<std::string> faults;  ///< of the check, a sentence each
};

/// "1200000 tokens of 812 files, ..."
std::string describe_work(const Report& report);

std::string table(const Report& report);
std::string json(const Report& report, const RunSettings& settings);

}  // namespace examples::live_checkpoint
