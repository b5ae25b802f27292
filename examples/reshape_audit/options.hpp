// SPDX-License-Identifier: BSL-1.0
/// The command line.
#pragma once

#include "command_line.hpp"
#include "pipelines/pipeline.hpp"

#include <byre/shadow/mode.hpp>
#include <optional>
#include <string>

namespace examples::reshape_audit {

struct Options {
  bool help = false;
  Pipelines pipelines;                            ///< all, or the one that was named
  std::optional<byre::shadow::ReshapeMode> mode;  ///< to run them in, and not to audit
  bool report = false;
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

}  // namespace examples::reshape_audit
