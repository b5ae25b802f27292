// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace byre::verification {
namespace {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

/// "1 search", "2 searches".
std::string counted(std::uint64_t number, const char* one, const char* more) {
  return with_commas(number) + ' ' + (number == 1 ? one : more);
}

/// Of a mutant.
const char* kill_text(const Result& result) {
  if (result.is_as_expected()) {
    return ": killed";
  }
  const Verdict verdict = result.found.verdict;
  return is_failure(verdict) || verdict == Verdict::checker_error ? ": no kill, the wrong verdict"
                                                                  : ": survived";
}

std::string verdict_text(const Result& result) {
  std::string text(to_string(result.found.verdict));
  const Bound bound = result.job.search.bound;
  if (result.found.verdict == Verdict::pass && !bound.is_full()) {
    text += " within " + counted(bound.preemptions, "preemption", "preemptions");
  }
  if (!result.job.mutation.is_none()) {
    return text + kill_text(result);
  }
  if (result.job.scenario->expected != Verdict::pass) {
    text += result.is_as_expected()
                ? ", as it should"
                : ", and not " + std::string(to_string(result.job.scenario->expected));
  }
  return text;
}

/// No mutant has to be killed by every scenario.
bool is_failed(const Result& result) {
  return result.job.mutation.is_none() && !result.is_as_expected();
}

/// Of a scenario that searches many programs: how many passed.
std::string programs_text(const Found& found) {
  if (found.programs == 0) {
    return {};
  }
  return (found.verdict == Verdict::pass ? ", " : " after ") +
         counted(found.programs, "program", "programs") +
         (found.in_full == found.programs ? ""
                                          : ", " + with_commas(found.in_full) + " of them in full");
}

void print_row(const Result& result) {
  std::printf("%-32s %-7s %14s %9.2f s  %s%s%s\n", std::string(result.job.scenario->name).c_str(),
              result.job.search.bound.name().c_str(), with_commas(result.found.executions).c_str(),
              result.found.seconds, is_failed(result) ? "FAILED: " : "",
              verdict_text(result).c_str(), programs_text(result.found).c_str());
}

void print_failure(const Result& result) {
  std::printf("\n%s: %s", std::string(result.job.scenario->name).c_str(),
              verdict_text(result).c_str());
  std::printf("%s%s\n", result.found.message.empty() ? "" : ": ", result.found.message.c_str());
  std::printf("  %s\n", std::string(result.job.scenario->shows).c_str());
  if (!result.trace.empty()) {
    std::printf("%s", result.trace.c_str());
  }
  if (!result.replay.empty()) {
    std::printf("  again: byre-verify --replay '%s'\n", result.replay.c_str());
  }
}

std::string summary(const std::vector<Result>& results, std::size_t failed) {
  if (results.front().job.mutation.is_none()) {
    return std::to_string(failed) + " not as expected";
  }
  const auto kills = std::ranges::count_if(results, &Result::is_as_expected);
  return kills == 0 ? "the mutant survived"
                    : "the mutant was killed by " +
                          counted(static_cast<std::uint64_t>(kills), "search", "searches");
}

}  // namespace

Report::Report(std::size_t job_count)
    : job_count_(job_count), is_terminal_(isatty(STDOUT_FILENO) != 0) {}

void Report::clear_line() const {
  if (is_terminal_) {
    std::printf("\r\033[K");
  }
}

void Report::show_progress() const {
  if (is_terminal_) {
    clear_line();
    std::printf("%zu of %zu", ended_, job_count_);
    for (const auto& [name, executions] : under_way_) {
      std::printf("  %s %s", name.c_str(), with_commas(executions).c_str());
    }
    std::fflush(stdout);
  }
}

Listener Report::listener() {
  return {.ended =
              [this](const Result& result) {
                ++ended_;
                under_way_.erase(std::string(result.job.scenario->name));
                clear_line();
                print_row(result);
                std::fflush(stdout);
                show_progress();
              },
          .progress =
              [this](const Job& job, std::uint64_t executions) {
                std::uint64_t& shown = under_way_[std::string(job.scenario->name)];
                if (executions > shown + 50'000) {
                  shown = executions;
                  show_progress();
                }
              }};
}

void Report::print(const std::vector<Result>& results) const {
  clear_line();
  std::uint64_t executions = 0;
  double seconds = 0;
  std::size_t failed = 0;
  for (const Result& result : results) {
    executions += result.found.executions;
    seconds += result.found.seconds;
    failed += is_failed(result);
    if (is_failed(result) || (results.size() == 1 && !result.trace.empty())) {
      print_failure(result);
    }
  }
  if (results.size() > 1) {
    std::printf("\n%-32s %-7s %14s %9s    %s\n", "scenario", "bound", "executions", "time",
                "verdict");
    for (const Result& result : results) {
      print_row(result);
    }
  }
  std::printf("\n%s, %s, %s a second each; %s\n",
              counted(results.size(), "search", "searches").c_str(),
              counted(executions, "execution", "executions").c_str(),
              with_commas(static_cast<std::uint64_t>(static_cast<double>(executions) /
                                                     std::max(seconds, 1e-3)))
                  .c_str(),
              summary(results, failed).c_str());
}

std::vector<std::string> unreached_sites(const std::vector<Result>& results) {
  std::set<std::string_view> reached;
  for (const Result& result : results) {
    reached.insert(result.reached.begin(), result.reached.end());
  }
  std::vector<std::string> unreached;
  for (const auto& table : site_tables()) {
    for (const sync::Site& site : table) {
      if (!reached.contains(site.name)) {
        unreached.emplace_back(site.name);
      }
    }
  }
  return unreached;
}

test::Json figures_of(const std::vector<Result>& results) {
  test::Json rows = test::Json::array();
  for (const Result& result : results) {
    const Found& found = result.found;
    const Bound bound = result.job.search.bound;
    rows.push_back({{"scenario", result.job.scenario->name},
                    {"mutant", result.job.mutation.name()},
                    {"engine", bound.is_full() ? "full search" : "preemption bound"},
                    {"bound", bound.name()},
                    {"executions", found.executions},
                    {"programs", found.programs},
                    {"programs_in_full", found.in_full},
                    {"seconds", found.seconds},
                    {"verdict", to_string(found.verdict)},
                    {"expected", to_string(result.job.scenario->expected)},
                    {"as_expected", result.is_as_expected()},
                    {"message", found.message},
                    {"replay", result.replay}});
  }
  return rows;
}

}  // namespace byre::verification
