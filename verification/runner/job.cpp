// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"

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
      result.found.in_full = std::stoull(text);
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
  const bool is_bare = result.job.mutation.is_none() && !result.job.is_replay;
  if (found.verdict == Verdict::pass && is_bare && !result.not_covered.empty()) {
    found.verdict = Verdict::not_covered;
    found.message = "never reached: " + result.not_covered.front();
  }
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

}  // namespace byre::verification
