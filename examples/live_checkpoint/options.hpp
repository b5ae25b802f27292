// SPDX-License-Identifier: BSL-1.0
/// The command line. What is given is checked here; what depends on the text is chosen in
/// settle_plan().
#pragma once

#include "command_line.hpp"
#include "corpus.hpp"
#include "run.hpp"
#include "training.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

struct Options {
  bool help = false;
  std::vector<std::filesystem::path> text;
  std::uint64_t tokens = 0;
  std::optional<std::uint64_t> snapshot_every;  ///< tokens
  std::optional<std::uint32_t> dimensions;
  std::optional<std::uint32_t> tile_rows;
  std::optional<std::uint64_t> full_every;  ///< snapshots; without it the first file alone is full
  std::uint64_t seed = 0;
  std::size_t queue = 0;  ///< snapshots
  std::vector<Mode> modes;
  std::optional<std::filesystem::path> output;
  bool keep = false;
  std::optional<std::filesystem::path> restore;  ///< do nothing but this, into `output`
  std::optional<std::filesystem::path> trace;
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

/// The plan for this text, which it takes; leaves the vocabulary. Without --dimensions, as many as
/// make a table of some 32 MiB. Throws UsageError for what does not fit the text or the machine.
Plan settle_plan(const Options& options, Corpus& corpus);

RunSettings settle_run(const Options& options);

}  // namespace examples::live_checkpoint
