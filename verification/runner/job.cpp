// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace byre::verification {
namespace {

struct Child {
  std::size_t job;
  pid_t process;
  int input;
  std::string unread = {};
  std::uint64_t executions = 0;
};

Child start(const std::vector<Job>& jobs, std::size_t number) {
  int ends[2];
  std::fflush(nullptr);
  if (pipe(ends) != 0) {
    throw std::runtime_error("no pipe for a search");
  }
  const pid_t process = fork();
  if (process < 0) {
    throw std::runtime_error("no process for a search");
  }
  if (process == 0) {
    close(ends[0]);
    // Whatever happens, it ends: the search itself stops at its limit, the trace soon after.
    alarm(static_cast<unsigned>(jobs[number].search.longest.count()) + 300);
    run_here(jobs[number], ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {number, process, ends[0]};
}

void take_line(const std::string& line, Child& child, Result& result) {
  const std::string text = line.substr(1);
  switch (line[0]) {
    case 'P':
      child.executions = std::stoull(text);
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

/// False at the end.
bool take_input(Child& child, Result& result) {
  char buffer[4096];
  const ssize_t size = read(child.input, buffer, sizeof buffer);
  if (size <= 0) {
    return false;
  }
  child.unread.append(buffer, static_cast<std::size_t>(size));
  std::size_t begin = 0;
  for (std::size_t end; (end = child.unread.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    take_line(child.unread.substr(begin, end - begin), child, result);
  }
  child.unread.erase(0, begin);
  return true;
}

void finish(const Child& child, Result& result) {
  close(child.input);
  int status = 0;
  waitpid(child.process, &status, 0);
  Found& found = result.found;
  const bool said_nothing = found.executions == 0;
  if (said_nothing || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (said_nothing) {
      found.verdict = Verdict::checker_error;
    }
    found.message += WIFSIGNALED(status)
                         ? " (the search ended by signal " + std::to_string(WTERMSIG(status)) + ")"
                         : " (the checker gave up)";
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
                                : is_failure(found.verdict);
}

std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once, const Listener& listener) {
  std::vector<Result> results(jobs.size());
  std::vector<Child> children;
  std::size_t next = 0;
  while (next < jobs.size() || !children.empty()) {
    for (; next < jobs.size() && children.size() < at_once; ++next) {
      results[next].job = jobs[next];
      children.push_back(start(jobs, next));
    }
    std::vector<pollfd> inputs;
    for (const Child& child : children) {
      inputs.push_back({child.input, POLLIN, 0});
    }
    poll(inputs.data(), inputs.size(), -1);
    for (std::size_t i = inputs.size(); i-- > 0;) {
      Child& child = children[i];
      Result& result = results[child.job];
      if (inputs[i].revents == 0) {
        continue;
      }
      if (take_input(child, result)) {
        listener.progress(jobs[child.job], child.executions);
      } else {
        finish(child, result);
        listener.ended(result);
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  return results;
}

}  // namespace byre::verification
