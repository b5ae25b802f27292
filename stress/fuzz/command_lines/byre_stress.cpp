// SPDX-License-Identifier: BSL-1.0
#include <sstream>
#include <string>
#include <vector>

#include "../../options.hpp"
#include "../target.hpp"
#include "parsers.hpp"

namespace byre::fuzz {
namespace {

/// The command that repeats a run is taken, and repeats itself.
void check_repetition(const std::string& workload, const stress::Settings& settings) {
  const std::string command = stress::command_of(workload, settings);
  trace("repeated by %s", command.c_str());
  std::istringstream words(command);
  std::vector<std::string> texts;
  for (std::string text; words >> text;) {
    texts.push_back(text);
  }
  std::vector<const char*> arguments;
  for (const std::string& text : texts) {
    arguments.push_back(text.c_str());
  }
  try {
    const auto again = stress::parse(static_cast<int>(arguments.size()), arguments.data());
    const std::string repeated = stress::command_of(again.workload, again.settings);
    if (repeated != command) {
      fail("'%s' would be repeated by '%s'", command.c_str(), repeated.c_str());
    }
  } catch (const test::UsageError& error) {
    fail("'%s' is to repeat a run, and is refused: %s", command.c_str(), error.what());
  }
}

}  // namespace

Refusal parse_for_byre_stress(int argc, const char* const* argv) {
  try {
    const stress::Options options = stress::parse(argc, argv);
    // Whether there is such a workload is found out later.
    const bool may_exist =
        options.workload.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (options.mode == stress::Mode::run && may_exist && !options.workload.empty()) {
      check_repetition(options.workload, options.settings);
    }
    return std::nullopt;
  } catch (const test::UsageError& error) {
    return error.what();
  }
}

}  // namespace byre::fuzz
