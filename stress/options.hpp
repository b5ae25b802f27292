// SPDX-License-Identifier: BSL-1.0
/// The command line of byre-stress. Parsing it reads and writes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "settings.hpp"
#include "support/command_line.hpp"

namespace byre::stress {

/// What the program does.
enum class Mode { run, soak, seeded_bugs, list, help };

struct Options {
  Mode mode = Mode::run;
  std::string workload = "mixed";  ///< or "all"; not checked
  Settings settings;
  std::set<std::string>
      given;  ///< the names of the options that were given; if "seed" is not among them,
              ///< the caller chooses one
  std::chrono::minutes soak_duration{30};
  std::string seeded_bugs = "all";            ///< a name, or all
  std::optional<std::uint64_t> rounds;        ///< of detection runs
  std::optional<unsigned> seeds;              ///< of detection runs
  std::optional<std::filesystem::path> json;  ///< a file; empty: standard output
};

/// Throws test::UsageError, and nothing else but std::bad_alloc.
Options parse(int argc, const char* const* argv);

std::string help_text();

}  // namespace byre::stress
