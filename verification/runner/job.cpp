// SPDX-License-Identifier: BSL-1.0
#include "job.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "../mutants/mutants.hpp"

namespace byre::verification {
namespace {

/// Takes a line that a child wrote: the outcome of its search, or its trace.
void take_line(const std::string& line, Result& result) {
  const test::Json report = test::Json::parse(line, nullptr, false);
  if (report.is_discarded()) {
    return;  // a crashing child may write an incomplete line
  }
  if (report.contains("replay")) {
    result.replay = report["replay"];
    result.trace = report["trace"];
    return;
  }
  SearchResult& found = result.found;
  found.verdict = verdict_of(report["verdict"].get<std::string>()).value_or(Verdict::crash);
  found.executions = report["executions"];
  found.seconds = report["seconds"];
  found.programs = report["programs"];
  found.unbounded = report["unbounded"];
  found.message = report["message"];
  result.not_covered = report["not_covered"];
  result.reached = report["reached"];
}

void check_cover(Result& result) {
  if (result.found.verdict == Verdict::pass && !result.not_covered.empty()) {
    result.found.verdict = Verdict::not_covered;
    result.found.message = "never reached: " + result.not_covered.front();
  }
}

void finish(test::Exit exit, Result& result) {
  SearchResult& found = result.found;
  const bool is_silent = found.executions == 0;
  if (is_silent || !exit.is_success()) {
    // If the child has reported a failure, that failure remains the verdict: only the search for a
    // trace crashed.
    if (is_silent || !is_failure(found.verdict)) {
      found.verdict = Verdict::checker_error;
    }
    found.message +=
        exit.signal() ? " (the search ended by " + exit.text() + ")" : " (the checker failed)";
  }
  const bool checks_cover =
      result.job.mutation.is_none() && !result.job.is_replay && result.job.family == nullptr;
  if (checks_cover) {
    check_cover(result);
  }
}

/// Orders verdicts: the verdict of a family is the most severe verdict of its programs.
int severity_of(Verdict verdict) noexcept {
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
  SearchResult& all = family.found;
  all.executions += part.found.executions;
  all.seconds += part.found.seconds;
  if (part.found.verdict == Verdict::pass) {
    ++all.programs;
    all.unbounded += part.job.search.bound.is_full() ? 1U : 0U;
  } else if (part.found.verdict == Verdict::unknown) {
    family.cut_short.push_back(name);
  }
  if (severity_of(part.found.verdict) > severity_of(all.verdict)) {
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

constexpr std::string_view begin = "{\"program\"";

/// A hash of this executable. It identifies the code under test, which is compiled in.
std::string this_program() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(self), {});
  return std::to_string(std::hash<std::string>{}(content));
}

std::string key_of(const Job& job) {
  return std::string(job.scenario->name) + ", " + job.mutation.name() + ", " +
         job.search.bound.name();
}

}  // namespace

Journal::Journal(const std::filesystem::path& file) : name_(file), program_(this_program()) {
  const auto refuse = [&] {
    throw std::runtime_error(
        file.string() + " is not a journal of searches. Name another file, or remove this one.");
  };
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    refuse();  // reading a device may never end
  }
  std::ifstream written(file);
  for (std::string line; std::getline(written, line);) {
    const test::Json search = test::Json::parse(line, nullptr, false);
    if (search.is_object() && search.value("program", "") == program_) {
      searches_[search["search"]] = search["lines"];
    } else if (!line.empty() && !line.starts_with(begin)) {
      refuse();  // lines with this beginning are of other builds, or incomplete: they are ignored
    }
  }
  written.close();
  file_.open(file, std::ios::app);
  file_ << '\n';  // ends an incomplete last line
  check();
}

std::vector<std::string> Journal::find(const Job& job) const {
  const auto found = searches_.find(key_of(job));
  return found == searches_.end() ? std::vector<std::string>() : found->second;
}

void Journal::add(const Job& job, const std::vector<std::string>& lines) {
  const test::Json search{{"program", program_}, {"search", key_of(job)}, {"lines", lines}};
  file_ << search.dump() << std::endl;
  check();
}

void Journal::check() const {
  if (!file_) {
    throw std::runtime_error("cannot write the journal " + name_.string());
  }
}

bool Result::is_as_expected() const noexcept {
  return job.mutation.is_none() ? found.verdict == job.scenario->expected
                                : is_expected(job.mutation, found.verdict);
}

std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once,
                        const std::function<void(const Result&)>& ended, Journal* journal) {
  std::vector<Result> results(jobs.size());
  std::vector<std::vector<std::string>> written(jobs.size());
  std::vector<std::size_t> to_run;
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    results[number].job = jobs[number];
    const auto kept = journal != nullptr ? journal->find(jobs[number]) : std::vector<std::string>();
    for (const std::string& line : kept) {
      take_line(line, results[number]);
    }
    if (kept.empty()) {
      to_run.push_back(number);
    } else {
      finish(test::Exit(0), results[number]);
    }
  }
  test::run_in_children(
      to_run.size(), at_once,
      {.work = [&](std::size_t place, int output) { run_in_child(jobs[to_run[place]], output); },
       .line =
           [&](std::size_t place, const std::string& line) {
             take_line(line, results[to_run[place]]);
             written[to_run[place]].push_back(line);
           },
       .ended =
           [&](std::size_t place, test::Exit exit) {
             Result& result = results[to_run[place]];
             finish(exit, result);
             const Verdict verdict = result.found.verdict;
             if (journal != nullptr && verdict != Verdict::checker_error &&
                 verdict != Verdict::unknown) {
               journal->add(result.job, written[to_run[place]]);
             }
             ended(result);
           },
       // A time limit for the child: its search ends within `longest`, and the search for a trace
       // soon afterwards.
       .patience =
           [&](std::size_t place) {
             return jobs[to_run[place]].search.longest + std::chrono::seconds(300);
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
