// SPDX-License-Identifier: BSL-1.0
/// What the examples' command lines have in common: Boost.Program_options, strictly, and numbers
/// with bounds. Whatever is wrong is a UsageError that says what is right.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

namespace examples {

/// No abbreviations, and nothing that stands alone but one value for `alone`, if that is named.
boost::program_options::variables_map parse_command_line(
    int argc, const char* const* argv, const boost::program_options::options_description& options,
    const char* alone = nullptr);

/// The whole number that was given for `name`.
std::uint64_t number(const std::string& name, const std::string& given, std::uint64_t least,
                     std::uint64_t most);

/// --json [FILE]
struct JsonOption {
  bool is_given = false;
  std::filesystem::path file;  ///< empty: standard output
};

void add_json_option(boost::program_options::options_description& options);
JsonOption json_option(const boost::program_options::variables_map& given);

}  // namespace examples
