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

/// "40 s", "14 min", "20 h".
std::string duration_text(std::chrono::steady_clock::duration duration) {
  const auto seconds =
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(duration).count());
  return seconds < 100        ? std::to_string(seconds) + " s"
         : seconds < 100 * 60 ? std::to_string((seconds + 59) / 60) + " min"
                              : with_commas((seconds + 3599) / 3600) + " h";
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
         (found.unbounded == found.programs
              ? ""
              : ", " + with_commas(found.unbounded) + " of them reduced");
}

void print_row(const Result& result) {
  const std::string left =
      result.left.empty() ? "" : ", " + with_commas(result.left.size()) + " left";
  std::printf("%-32s %-7s %14s %9.2f s  %s%s%s%s\n", std::string(result.job.scenario->name).c_str(),
              result.job.search.bound.name().c_str(), with_commas(result.found.executions).c_str(),
              result.found.seconds, is_failed(result) ? "FAILED: " : "",
              verdict_text(result).c_str(), programs_text(result.found).c_str(), left.c_str());
}

void print_failure(const Result& result) {
  std::printf("\n%s: %s", std::string(result.job.scenario->name).c_str(),
              verdict_text(result).c_str());
  std::printf("%s%s\n", result.found.message.empty() ? "" : ": ", result.found.message.c_str());
  std::printf("  %s\n", std::string(result.job.scenario->shows).c_str());
  for (const std::string& program : result.left) {
    std::printf("  cut short: %s\n", program.c_str());
  }
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

Report::Report(std::size_t job_count, unsigned at_once)
    : job_count_(job_count), at_once_(at_once), is_terminal_(isatty(STDOUT_FILENO) != 0) {}

Report::~Report() {
  clear_line();
  std::fflush(stdout);
}

void Report::clear_line() const {
  if (is_terminal_) {
    std::printf("\r\033[K");
  }
}

/// "412 of 2,860, 14 min, about 80 min left, at most 20 h".
std::string Report::progress_text(std::chrono::seconds longest) const {
  const auto passed = Clock::now() - begun_;
  std::string text = with_commas(ended_) + " of " + with_commas(job_count_);
  if (passed >= std::chrono::minutes(1)) {
    const std::size_t left = job_count_ - ended_;
    text += ", " + duration_text(passed);
    if (ended_ != 0) {
      text += ", about " + duration_text(passed / ended_ * left) + " left";
    }
    text += ", at most " + duration_text(longest * ((left + at_once_ - 1) / at_once_));
  }
  return text;
}

void Report::show_progress(std::chrono::seconds longest) {
  if (is_terminal_) {
    clear_line();
    std::printf("%s", progress_text(longest).c_str());
    for (const auto& [name, executions] : under_way_) {
      std::printf("  %s %s", name.c_str(), with_commas(executions).c_str());
    }
    std::fflush(stdout);
  } else if (Clock::now() - shown_ >= std::chrono::minutes(1)) {
    shown_ = Clock::now();
    std::printf("%s\n", progress_text(longest).c_str());
    std::fflush(stdout);
  }
}

Listener Report::listener() {
  return {.ended =
              [this](const Result& result) {
                ++ended_;
                under_way_.erase(std::string(result.job.scenario->name));
                // There are thousands of parts: one that passes is not worth a line.
                if (result.job.family == nullptr || result.found.verdict != Verdict::pass) {
                  clear_line();
                  print_row(result);
                  std::fflush(stdout);
                }
                show_progress(result.job.search.longest);
              },
          .progress =
              [this](const Job& job, std::uint64_t executions) {
                std::uint64_t& shown = under_way_[std::string(job.scenario->name)];
                if (executions > shown + 50'000) {
                  shown = executions;
                  show_progress(job.search.longest);
                }
              }};
}

void print(const std::vector<Result>& results) {
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
                    {"programs_unbounded", found.unbounded},
                    {"seconds", found.seconds},
                    {"verdict", to_string(found.verdict)},
                    {"expected", to_string(result.job.scenario->expected)},
                    {"as_expected", result.is_as_expected()},
                    {"message", found.message},
                    {"left", result.left},
                    {"replay", result.replay}});
  }
  return rows;
}

}  // namespace byre::verification
