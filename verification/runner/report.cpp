// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"

#include <algorithm>
#include <cstdio>
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

std::string verdict_text(const Result& result) {
  const SearchResult& found = result.found;
  std::string text(to_string(found.verdict));
  if (!result.job.mutation.is_none()) {
    return text + (result.is_as_expected()     ? ": killed"
                   : is_failure(found.verdict) ? ": not killed, unexpected verdict"
                                               : ": survived");
  }
  const Verdict expected = result.job.scenario->expected;
  if (expected != Verdict::pass) {
    text += result.is_as_expected() ? ", as expected"
                                    : ", expected " + std::string(to_string(expected));
  }
  if (found.programs != 0) {
    text +=
        ", programs: " + with_commas(found.programs) + ", reduced: " + with_commas(found.unbounded);
  }
  return text +
         (result.cut_short.empty() ? "" : ", cut short: " + with_commas(result.cut_short.size()));
}

/// Always false if a mutant is active, since not every scenario has to kill it.
bool is_failed(const Result& result) {
  return result.job.mutation.is_none() && !result.is_as_expected();
}

void print_row(const Result& result) {
  std::printf("%-36s %-7s %12s %9.2f s  %s%s\n", std::string(result.job.scenario->name).c_str(),
              result.job.search.bound.name().c_str(), with_commas(result.found.executions).c_str(),
              result.found.seconds, is_failed(result) ? "FAILED: " : "",
              verdict_text(result).c_str());
}

void print_failure(const Result& result) {
  const std::string& message = result.found.message;
  std::printf("\n%s: %s%s\n  %s\n", std::string(result.job.scenario->name).c_str(),
              verdict_text(result).c_str(), message.empty() ? "" : (": " + message).c_str(),
              std::string(result.job.scenario->shows).c_str());
  for (const std::string& program : result.cut_short) {
    std::printf("  cut short: %s\n", program.c_str());
  }
  std::printf("%s", result.trace.c_str());
  if (!result.replay.empty()) {
    std::printf("  replay it: byre-verify --replay '%s'\n", result.replay.c_str());
  }
}

struct Group {
  std::string_view prefix;
  std::string_view name;
};
constexpr Group groups[] = {{"known_wrong.", "known-wrong designs"},
                            {"reference.", "the textbook form"},
                            {"programs.", "families of small programs"},
                            {"litmus.", "litmus tests"},
                            {"", "scenarios"}};

const Group& group_of(const Result& result) {
  return *std::ranges::find_if(groups, [&](const Group& group) {
    return result.job.scenario->name.starts_with(group.prefix);
  });
}

void print_totals(const std::vector<Result>& results, std::string_view name,
                  const std::function<bool(const Result&)>& counts) {
  std::uint64_t searches = 0;
  std::uint64_t executions = 0;
  std::uint64_t as_expected = 0;
  for (const Result& result : results) {
    if (counts(result)) {
      ++searches;
      executions += result.found.executions;
      as_expected += result.is_as_expected();
    }
  }
  if (searches != 0) {
    std::printf("| %s | %s | %s | %s |\n", std::string(name).c_str(), with_commas(searches).c_str(),
                with_commas(executions).c_str(), with_commas(as_expected).c_str());
  }
}

}  // namespace

std::function<void(const Result&)> report(std::size_t job_count) {
  return [job_count, ended = std::size_t{0}](const Result& result) mutable {
    ++ended;
    // A family has thousands of programs, so programs that pass get no line.
    if (result.job.family == nullptr || result.found.verdict != Verdict::pass) {
      print_row(result);
    } else if (ended % 100 == 0) {
      std::printf("%s of %s\n", with_commas(ended).c_str(), with_commas(job_count).c_str());
    }
    std::fflush(stdout);
  };
}

void print(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (is_failed(result) || (results.size() == 1 && !result.trace.empty())) {
      print_failure(result);
    }
  }
  std::printf("\n| search | searches | executions | %s |\n|---|---|---|---|\n",
              results.front().job.mutation.is_none() ? "as expected" : "that kill the mutant");
  for (auto group = std::rbegin(groups); group != std::rend(groups); ++group) {
    print_totals(results, group->name,
                 [&](const Result& result) { return &group_of(result) == &*group; });
  }
  print_totals(results, "in all", [](const Result&) { return true; });
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
    const SearchResult& found = result.found;
    rows.push_back({{"scenario", result.job.scenario->name},
                    {"mutant", result.job.mutation.name()},
                    {"bound", result.job.search.bound.name()},
                    {"executions", found.executions},
                    {"programs", found.programs},
                    {"programs_unbounded", found.unbounded},
                    {"seconds", found.seconds},
                    {"verdict", to_string(found.verdict)},
                    {"expected", to_string(result.job.scenario->expected)},
                    {"as_expected", result.is_as_expected()},
                    {"message", found.message},
                    {"cut_short", result.cut_short},
                    {"replay", result.replay}});
  }
  return rows;
}

}  // namespace byre::verification
