// SPDX-License-Identifier: BSL-1.0
/// byre-verify's parser, without what needs the model checker: two scenarios stand for all.
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../../verification/mutants/pairs.hpp"
#include "../../../verification/programs/program.hpp"
#include "../../../verification/programs/programs.hpp"
#include "../../../verification/runner/options.hpp"
#include "../../../verification/runner/replay.hpp"
#include "../target.hpp"
#include "parsers.hpp"

namespace byre::verification {

std::span<const Scenario* const> all_scenarios() {
  static const Scenario writers{
      .name = "writers_race_writers", .shows = "", .threads = 2, .cover = {}, .search = {}};
  static const Scenario readers{
      .name = "reads_race_a_steal", .shows = "", .threads = 2, .cover = {}, .search = {}};
  static const Scenario* const all[] = {&writers, &readers};
  return all;
}

const Scenario& program_scenario(const std::string& text) {
  static std::map<std::string, Scenario> asked_for;
  const Program program = parse_program(text);
  if (parse_program(program.name()).name() != program.name()) {
    fuzz::fail("'%s' is a program, and its name another", text.c_str());
  }
  asked_for.clear();
  const auto at = asked_for.try_emplace(program.name()).first;
  at->second.name = at->first;
  at->second.threads = static_cast<unsigned>(program.threads.size());
  return at->second;
}

/// Takes any two steps for neighbours: which ones are is observed by running the model checker.
Mutation find_swap(const sync::Site& site, const sync::Site& next) {
  if (const auto mutation = swapped(site, next)) {
    return *mutation;
  }
  throw std::invalid_argument("the first cannot be held back");
}

}  // namespace byre::verification

namespace byre::fuzz {

namespace {

/// A replay string says of one execution what its job says.
void check_replay(const std::string& text) {
  const verification::Job job = verification::parse_replay(text);
  const std::string again =
      verification::replay_string(job, verification::Found{.state = job.search.state});
  const auto state = [](const std::string& replay) { return replay.substr(replay.rfind('/')); };
  if (state(again) != state(text)) {
    fail("the state of '%s' is read as that of '%s'", text.c_str(), again.c_str());
  }
}

}  // namespace

Refusal parse_for_byre_verify(int argc, const char* const* argv) {
  std::vector<std::string> texts(argv, argv + argc);
  std::vector<char*> arguments;
  for (std::string& text : texts) {
    arguments.push_back(text.data());
  }
  arguments.push_back(nullptr);
  try {
    const verification::Options options = verification::parse_options(argc, arguments.data());
    if (options.mode == verification::Mode::replay) {
      check_replay(options.replay);
    }
    if (options.jobs == 0 || options.executions == 0) {
      fail("a number that has to be positive is 0");
    }
    return std::nullopt;
  } catch (const verification::UsageError& error) {
    return error.what();
  }
}

}  // namespace byre::fuzz
