// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"

#include <algorithm>

#include "../mutants/right_verdicts.hpp"

namespace byre::verification {
namespace {

/// What a child wrote of its search. `executions`: so far.
void take_line(const std::string& line, Result& result, std::uint64_t& executions) {
  const std::string text = line.substr(1);
  switch (line[0]) {
    case 'P':
      executions = std::stoull(text);
      break;
    case 'V':
      result.found.verdict = verdict_of(text).value_or(Verdict::crash);
      break;
    case 'E':
      result.found.executions = std::stoull(text);
      break;
    case 'D':
      result.found.seconds = std::stod(text);
      break;
    case 'N':
      result.found.programs = std::stoull(text);
      break;
    case 'A':
      result.found.unbounded = std::stoull(text);
      break;
    case 'M':
      result.found.message = text;
      break;
    case 'C':
      result.not_covered.push_back(text);
      break;
    case 'S':
      result.reached.push_back(text);
      break;
    case 'T':
      result.trace += text + '\n';
      break;
    case 'Y':
      result.replay = text;
      break;
    default:
      break;
  }
}

void check_cover(Result& result) {
  if (result.found.verdict == Verdict::pass && !result.not_covered.empty()) {
    result.found.verdict = Verdict::not_covered;
    result.found.message = "never reached: " + result.not_covered.front();
  }
}

void finish(test::Exit exit, Result& result) {
  Found& found = result.found;
  const bool said_nothing = found.executions == 0;
  if (said_nothing || !exit.is_success()) {
    // A failure that was told stands: only the search for its trace went wrong.
    if (said_nothing || !is_failure(found.verdict)) {
      found.verdict = Verdict::checker_error;
    }
    found.message +=
        exit.signal() ? " (the search ended by " + exit.text() + ")" : " (the checker gave up)";
  }
  const bool is_bare =
      result.job.mutation.is_none() && !result.job.is_replay && result.job.family == nullptr;
  if (is_bare) {
    check_cover(result);
  }
}

/// Which of two verdicts is that of both.
int weight_of(Verdict verdict) noexcept {
  return is_failure(verdict)                 ? 3
         : verdict == Verdict::checker_error ? 2
         : verdict == Verdict::unknown       ? 1
                                             : 0;
}

Result empty_family(const Job& part) {
  Result family;
  family.job = part;
  family.job.scenario = part.family;
  family.job.family = nullptr;
  family.found.verdict = Verdict::pass;
  family.not_covered.assign(part.family->cover.begin(), part.family->cover.end());
  return family;
}

void add_part(Result& family, const Result& part) {
  const std::string name(part.job.scenario->name);
  Found& all = family.found;
  all.executions += part.found.executions;
  all.seconds += part.found.seconds;
  if (part.found.verdict == Verdict::pass) {
    ++all.programs;
    all.unbounded += part.job.search.bound.is_full() ? 1U : 0U;
  } else if (part.found.verdict == Verdict::unknown) {
    family.left.push_back(name);
  }
  if (weight_of(part.found.verdict) > weight_of(all.verdict)) {
    all.verdict = part.found.verdict;
    all.message = name + (part.found.message.empty() ? "" : ": ") + part.found.message;
    family.trace = part.trace;
    family.replay = part.replay;
  }
  std::erase_if(family.not_covered, [&](const std::string& state) {
    return std::ranges::count(part.not_covered, state) == 0;
  });
  family.reached.insert(family.reached.end(), part.reached.begin(), part.reached.end());
}

}  // namespace

bool Result::is_as_expected() const noexcept {
  return job.mutation.is_none() ? found.verdict == job.scenario->expected
                                : is_right(job.mutation, found.verdict);
}

std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once, const Listener& listener) {
  std::vector<Result> results(jobs.size());
  std::vector<std::uint64_t> executions(jobs.size());
  test::run_in_children(
      jobs.size(), at_once,
      {.work = [&](std::size_t number, int output) { run_here(jobs[number], output); },
       .line =
           [&](std::size_t number, const std::string& line) {
             take_line(line, results[number], executions[number]);
             listener.progress(jobs[number], executions[number]);
           },
       .ended =
           [&](std::size_t number, test::Exit exit) {
             results[number].job = jobs[number];
             finish(exit, results[number]);
             listener.ended(results[number]);
           },
       // Whatever happens, it ends: the search itself stops at its limit, the trace soon after.
       .patience =
           [&](std::size_t number) {
             return jobs[number].search.longest + std::chrono::seconds(300);
           }});
  return results;
}

std::vector<Result> by_family(const std::vector<Result>& results) {
  std::vector<Result> all;
  for (const Result& result : results) {
    const Scenario* const family = result.job.family;
    if (family == nullptr) {
      all.push_back(result);
      continue;
    }
    if (all.empty() || all.back().job.scenario != family) {
      all.push_back(empty_family(result.job));
    }
    add_part(all.back(), result);
  }
  for (Result& result : all) {
    if (result.job.scenario->parts) {
      check_cover(result);
    }
  }
  return all;
}

}  // namespace byre::verification
