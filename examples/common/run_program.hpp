// SPDX-License-Identifier: BSL-1.0
/// The frame of an example: it reads the command line, does the work, prints what the work reports, and says each
/// error on standard error.
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
  std::vector<std::string> faults{};  ///< a sentence each; with one, the exit code is 1
};

struct Program {
  const char* name;
  const char* about;  ///< the text of --help in front of the options
  std::vector<Option> options;
  Report (*work)(const Arguments&);
};

/// What main() returns: 0, 1 if something failed or is wrong, 2 for wrong usage.
int run_program(const Program& program, int argc, const char* const* argv);

/// The figure, or null if the system or the build does not count it.
template <class Known, class Figure>
Json if_known(const Known& is_known, Figure figure) {
  return is_known ? Json(figure) : Json(nullptr);
}

/// `columns` is an object of columns, each an object of figures with the same names: numbers, texts or null.
std::string table_of(const Json& columns);

}  // namespace examples
