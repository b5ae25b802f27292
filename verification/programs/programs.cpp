// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <map>
#include <numeric>

#include "body.hpp"

namespace byre::verification {
namespace {

using Clock = std::chrono::steady_clock;

SearchResult search_program(const Program& program, const Search& search) {
  current_program = &program;
  return program.threads.size() == 2 ? detail::search_body<RunsProgram<2>>(search)
                                     : detail::search_body<RunsProgram<3>>(search);
}

/// Searches the program with reduced_search if that takes at most `executions_reduced` executions,
/// else within the bound of `search`.
SearchResult search_as_far_as(std::uint64_t executions_reduced, const Program& program,
                              const Search& search) {
  std::uint64_t spent = 0;
  if (!search.bound.is_full() && executions_reduced != 0 &&
      executions_reduced < search.most_executions) {
    Search reduced = search;
    reduced.bound = reduced_search;
    reduced.most_executions = executions_reduced;
    SearchResult found = search_program(program, reduced);
    if (found.verdict != Verdict::unknown) {
      found.unbounded = found.verdict == Verdict::pass ? 1 : 0;
      return found;
    }
    spent = found.executions;
  }
  Search rest = search;
  rest.most_executions -= spent;
  SearchResult found = search_program(program, rest);
  found.executions += spent;
  found.unbounded = found.verdict == Verdict::pass && search.bound.is_full() ? 1 : 0;
  return found;
}

/// The scenario of one program.
const Scenario& scenario_of(const Program& program) {
  static std::map<std::string, Scenario> made;
  const auto [at, is_new] = made.try_emplace(program.name());
  auto& [name, scenario] = *at;
  if (is_new) {
    scenario.name = name;
    scenario.shows = "A small program reads what the sequential model predicts.";
    scenario.threads = static_cast<unsigned>(program.threads.size());
    scenario.search = [program](const Search& search) { return search_program(program, search); };
  }
  return scenario;
}

/// Searches the programs in order, and stops at the first that does not pass.
SearchResult search_all(std::span<const Program> programs, std::uint64_t executions_reduced,
                        const Search& search) {
  const auto begun = Clock::now();
  const auto passed_time = [&] { return Clock::now() - begun; };
  SearchResult all{.verdict = Verdict::pass};
  for (const Program& program : programs) {
    Search part = search;
    part.most_executions = search.most_executions - all.executions;
    part.longest = std::chrono::ceil<std::chrono::seconds>(search.longest - passed_time());
    const SearchResult found = search_as_far_as(executions_reduced, program, part);
    all.executions += found.executions;
    all.unbounded += found.unbounded;
    if (found.verdict != Verdict::pass) {
      all.verdict = found.verdict;
      all.message = program.name() + (found.message.empty() ? "" : ": ") + found.message;
      all.state = found.state;
      all.failing = &scenario_of(program);
      break;
    }
    ++all.programs;
  }
  all.seconds = std::chrono::duration<double>(passed_time()).count();
  return all;
}

/// A family is the set of programs of one size. No program is in two families.
struct Family {
  std::string_view name;
  std::string_view shows;
  std::size_t threads = 2;
  std::size_t most_steps = 2;  ///< of each thread
  std::size_t least_steps_in_all;
  std::size_t most_steps_in_all;
  Bound quick = 2;
  /// A quick run uses reduced_search for a program if at most this many executions are enough.
  std::uint64_t quick_reduced;
  Bound deep = reduced_search;
};

constexpr Family families[] = {
    {.name = "programs.four_operations",
     .shows = "Two threads of two operations each, in every combination, do what the sequential "
              "model predicts: promises 1 to 5, I1 to I6.",
     .least_steps_in_all = 4,
     .most_steps_in_all = 4,
     .quick_reduced = 1'000},
    {.name = "programs.three_operations",
     .shows =
         "A thread of two operations and a thread of one do what the sequential model predicts.",
     .least_steps_in_all = 3,
     .most_steps_in_all = 3,
     .quick = 3,
     .quick_reduced = 10'000},
    {.name = "programs.two_operations",
     .shows =
         "Two threads with up to two operations in total do what the sequential model predicts.",
     .least_steps_in_all = 0,
     .most_steps_in_all = 2,
     .quick = reduced_search,
     .quick_reduced = 0,
     .deep = full_search},
    {.name = "programs.three_threads",
     .shows = "Three threads of one operation each do what the sequential model predicts.",
     .threads = 3,
     .most_steps = 1,
     .least_steps_in_all = 3,
     .most_steps_in_all = 3,
     .quick_reduced = 3'000},
};

/// States that some program of each family has to reach.
constexpr std::string_view cover_points[] = {
    "a write steals",
    "a write copies",
    "a write finds unique data",
    "a write fails",
};

std::vector<Program> programs_of(const Family& family) {
  std::vector<Program> programs = all_programs(family.threads, all_steps(family.most_steps));
  std::erase_if(programs, [&](const Program& program) {
    return program.step_count() < family.least_steps_in_all ||
           program.step_count() > family.most_steps_in_all;
  });
  return programs;
}

Scenario scenario_of(const Family& family) {
  return {.name = family.name,
          .shows = family.shows,
          .threads = static_cast<unsigned>(family.threads),
          .quick = family.quick,
          .deep = family.deep,
          .expected = Verdict::pass,
          .cover = cover_points,
          .search =
              [&family](const Search& search) {
                const bool is_quick = search.bound == family.quick;
                return search_all(programs_of(family), is_quick ? family.quick_reduced : 0, search);
              },
          .parts =
              [&family] {
                std::vector<const Scenario*> parts;
                for (const Program& program : programs_of(family)) {
                  parts.push_back(&scenario_of(program));
                }
                return parts;
              }};
}

[[maybe_unused]] const bool are_registered = [] {
  for (const Family& family : families) {
    register_scenario(scenario_of(family));
  }
  return true;
}();

}  // namespace

std::string Program::name() const {
  std::string name;
  for (const Steps& steps : threads) {
    name += &steps == &threads.front() ? "" : " | ";
    name += steps.empty() ? "idle" : "";
    for (std::size_t i = 0; i < steps.size(); ++i) {
      name += i == 0 ? "" : "; ";
      name += operation_names[static_cast<std::size_t>(steps[i])];
    }
  }
  return name;
}

std::size_t Program::step_count() const {
  return std::accumulate(threads.begin(), threads.end(), std::size_t{0},
                         [](std::size_t sum, const Steps& steps) { return sum + steps.size(); });
}

std::vector<Steps> all_steps(std::size_t most) {
  std::vector<Steps> all(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Steps begun = all[i];  // a copy, since `all` grows
    if (begun.size() == most || (!begun.empty() && begun.back() == Operation::drop)) {
      continue;
    }
    for (std::size_t next = 0; next < operation_names.size(); ++next) {
      all.push_back(begun);
      all.back().push_back(static_cast<Operation>(next));
    }
  }
  return all;
}

std::vector<Program> all_programs(std::size_t threads, std::span<const Steps> steps) {
  if (threads == 0) {
    return {Program()};
  }
  std::vector<Program> all;
  for (std::size_t first = 0; first < steps.size(); ++first) {
    // The remaining threads choose from `first` on, so each choice appears in one order.
    for (Program& rest : all_programs(threads - 1, steps.subspan(first))) {
      rest.threads.insert(rest.threads.begin(), steps[first]);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

const Scenario* find_program(const std::string& name) {
  for (const Family& family : families) {
    for (const Program& program : programs_of(family)) {
      if (program.name() == name) {
        return &scenario_of(program);
      }
    }
  }
  return nullptr;
}

}  // namespace byre::verification
