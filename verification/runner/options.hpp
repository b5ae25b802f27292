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

/// What is done: one thing at a time.
enum class Mode : std::uint8_t { run, help, list, list_programs, mutants, memory_orders, replay };

struct Options {
  Mode mode = Mode::run;
  bool deep = false;
  std::string file_to_check;               ///< the document is this one, and not printed
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

/// Small programs too, by their names.
const Scenario& find_scenario(const std::string& name);
const Scenario& find_program(const std::string& name);
Mutation find_mutation(const std::string& name);
Bound parse_bound(const std::string& text);
/// The job that runs one execution again.
Job parse_replay(const std::string& text);

std::string usage();

}  // namespace byre::verification
