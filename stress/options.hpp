// SPDX-License-Identifier: BSL-1.0
/// The command line of byre-stress. Parsing it reads and writes nothing.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "settings.hpp"

namespace byre::stress {

/// What cannot be done, and what can: a sentence for the user.
class BadCommandLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The one thing that is asked for.
enum class Mode { run, soak, planted, list, help };

struct Options {
  Mode mode = Mode::run;
  std::string workload = "mixed";  ///< or "all"; whether there is such a one is not looked at
  Settings settings;
  std::set<std::string> given;  ///< the names of all options that were; without a seed, the caller
                                ///< chooses one
  std::chrono::minutes soak_duration{30};
  std::string planted = "all";          ///< --seeded-bugs
  std::optional<std::uint64_t> rounds;  ///< of --seeded-bugs
  std::optional<unsigned> seeds;        ///< of --seeded-bugs
  bool json = false;
  std::filesystem::path json_file;  ///< empty: standard output
};

/// Throws BadCommandLine, and nothing else but std::bad_alloc.
Options parse(int argc, const char* const* argv);

std::string help_text();

}  // namespace byre::stress
