// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "failure.hpp"

#include <array>
#include <sstream>
#include <utility>

namespace examples::functionalize {
namespace {

namespace po = boost::program_options;

using byre::functional::ViewPaths;

template <class Choice, std::size_t Count>
using Choices = std::array<std::pair<const char*, Choice>, Count>;

constexpr Choices<Backend, 2> backends{{{"cpu", Backend::cpu}, {"graph", Backend::graph}}};
constexpr Choices<bool, 2> on_or_off{{{"on", true}, {"off", false}}};
constexpr Choices<ViewPaths, 3> all_paths{{{"chains", ViewPaths::chains},
                                           {"strides", ViewPaths::strides},
                                           {"by_backend", ViewPaths::by_backend}}};

po::options_description described_options() {
  po::options_description options("Options", 96, 62);
  options.add_options()("help,h", "say this, and exit");
  options.add_options()("backend", po::value<std::string>()->value_name("NAME"),
                        "cpu (default), or graph, which is executed on the CPU");
  options.add_options()("pass", po::value<std::string>()->value_name("on|off"),
                        "whether the program is functionalized (default: on)");
  options.add_options()("reapply-views", po::value<std::string>()->value_name("on|off"),
                        "whether views are computed by views, and not by copies (default: off)");
  options.add_options()("paths", po::value<std::string>()->value_name("HOW"),
                        "how views are remembered: chains, strides or by_backend (default)");
  options.add_options()("dot", po::value<std::string>()->value_name("FILE"),
                        "write the simplified graph for Graphviz");
  add_json_option(options);
  return options;
}

/// The choice that was given for `name`, or `other`.
template <class Choice, std::size_t Count>
Choice chosen(const po::variables_map& given, const char* name,
              const Choices<Choice, Count>& choices, Choice other) {
  if (given.count(name) == 0) {
    return other;
  }
  const auto& value = given[name].as<std::string>();
  std::string names;
  for (std::size_t index = 0; index < Count; ++index) {
    if (value == choices[index].first) {
      return choices[index].second;
    }
    names += std::string(index == 0           ? ""
                         : index + 1 == Count ? " or "
                                              : ", ") +
             choices[index].first;
  }
  throw UsageError("--" + std::string(name) + " takes " + names + ", not '" + value + "'.");
}

std::filesystem::path file(const po::variables_map& given, const char* name) {
  return given.count(name) == 0 ? std::string() : given[name].as<std::string>();
}

}  // namespace

const char* name_of(Backend backend) noexcept {
  return backends[static_cast<std::size_t>(backend)].first;
}

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, described_options(), "program");
  Options options;
  options.help = given.count("help") != 0;
  options.program = file(given, "program");
  options.backend = chosen(given, "backend", backends, Backend::cpu);
  options.pass = chosen(given, "pass", on_or_off, true);
  options.functionalize.reapply_views = chosen(given, "reapply-views", on_or_off, false);
  options.functionalize.paths = chosen(given, "paths", all_paths, ViewPaths::by_backend);
  options.dot = file(given, "dot");
  options.json = json_option(given);
  if (!options.help && options.program.empty()) {
    throw UsageError("Wrong usage: name a program file.");
  }
  if (!options.pass && !options.dot.empty()) {
    throw UsageError("--dot is of the graph that the pass makes, which --pass off skips.");
  }
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << R"(Usage: functionalize PROGRAM_FILE [options]

Runs a small program over tensors, with views and operations in place, on a backend that may have
neither, and prints what it calls, the graph of pure operations that the functionalize pass makes of
it, and the values of all tensors that have a name in the end. These have to be what plain aliasing on
the CPU makes.

  x = zeros(2)
  x1 = x.view(1, 2)
  x[1].fill_(2)
  y = x1 + 3

README.md beside the sources has the form of programs, and programs/ some that are complete.

)" << described_options()
       << R"(
Exit codes: 0 all is right, 1 the program is wrong or something failed, 2 wrong usage.
)";
  return text.str();
}

}  // namespace examples::functionalize
