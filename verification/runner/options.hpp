// SPDX-License-Identifier: BSL-1.0
/// What the command line asks for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../relacy/mutation.hpp"
#include "../scenario.hpp"
#include "job.hpp"

namespace byre::verification {

struct Options {
  std::string mode;  ///< "list", "mutants", "explain", "replay" or "help" is done instead of a run
  bool deep = false;
  std::vector<const Scenario*> scenarios;  ///< none: all
  Mutation mutation;
  std::optional<Bound> bound;  ///< instead of the scenarios' own
  std::string replay;
  std::optional<std::filesystem::path> json_file;
  std::optional<std::filesystem::path> journal;
  unsigned jobs = 2;
  std::uint64_t executions = ~std::uint64_t{0};  ///< the most for one search
  unsigned seconds = 600;                        ///< the most for one search
};

/// Throws UsageError.
Options parse_options(int argument_count, char** arguments);
/// The job that runs one execution again. Throws UsageError.
Job parse_replay(const std::string& text);

std::string usage();

}  // namespace byre::verification
