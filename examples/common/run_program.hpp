// SPDX-License-Identifier: BSL-1.0
/// The main function of the examples: parses the command line, runs the work, prints its report,
/// and prints errors on standard error.
#pragma once

#include "arguments.hpp"
#include "failure.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace examples {

using Json = nlohmann::ordered_json;

struct Report {
  std::string text;                   ///< for people
  Json figures = Json::object();      ///< for --json, which adds "faults"
  std::vector<std::string> faults{};  ///< sentences; if there are any, the exit status is 1
};

struct Program {
  const char* name;
  const char* about;  ///< the text of --help before the options
  std::vector<Option> options;
  Report (*work)(const Arguments&);
};

/// Returns the exit status: 0 for success, 1 for a failure or wrong results, 2 for wrong usage.
int run_program(const Program& program, int argc, const char* const* argv);

/// The figure, or null if the system or the build does not measure it.
template <class Known, class Figure>
Json if_known(const Known& is_known, Figure figure) {
  return is_known ? Json(figure) : Json(nullptr);
}

/// Formats a table. `columns` is an object of columns. All columns are objects with equal names of
/// figures; a figure is a number, a text or null.
std::string table_of(const Json& columns);

}  // namespace examples
