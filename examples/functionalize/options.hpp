// SPDX-License-Identifier: BSL-1.0
/// The command line.
#pragma once

#include "command_line.hpp"

#include <byre/functional/functionalize/options.hpp>

#include <filesystem>
#include <string>

namespace examples::functionalize {

enum class Backend : unsigned char { cpu, graph };

const char* name_of(Backend backend) noexcept;

struct Options {
  bool help = false;
  std::filesystem::path program;
  Backend backend = Backend::cpu;
  bool pass = true;
  byre::functional::FunctionalizeOptions functionalize;
  std::filesystem::path dot;  ///< empty: none
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

}  // namespace examples::functionalize
