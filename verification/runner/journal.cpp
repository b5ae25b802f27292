// SPDX-License-Identifier: BSL-1.0
#include "journal.hpp"

#include <iterator>
#include <sstream>
#include <stdexcept>

#include "support/json.hpp"

namespace byre::verification {
namespace {

using test::Json;

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The code under test is in the headers, and so in the program.
std::string this_program() {
  return std::to_string(std::hash<std::string>{}(content_of("/proc/self/exe")));
}

Json to_json(const Result& result) {
  const Found& found = result.found;
  return {{"seconds_at_most", result.job.search.longest.count()},
          {"executions_at_most", result.job.search.most_executions},
          {"verdict", to_string(found.verdict)},
          {"message", found.message},
          {"executions", found.executions},
          {"seconds", found.seconds},
          {"programs", found.programs},
          {"programs_unbounded", found.unbounded},
          {"not_covered", result.not_covered},
          {"reached", result.reached},
          {"trace", result.trace},
          {"replay", result.replay}};
}

Result from_json(const Json& json, const Job& job) {
  Result result;
  result.job = job;
  result.found = {.verdict = verdict_of(json.at("verdict").get<std::string>()).value(),
                  .message = json.at("message"),
                  .executions = json.at("executions"),
                  .seconds = json.at("seconds"),
                  .programs = json.at("programs"),
                  .unbounded = json.at("programs_unbounded")};
  json.at("not_covered").get_to(result.not_covered);
  json.at("reached").get_to(result.reached);
  json.at("trace").get_to(result.trace);
  json.at("replay").get_to(result.replay);
  return result;
}

/// A search with the limits of `job` would be cut short no later.
bool says_enough(const Json& json, const Job& job) {
  const Verdict verdict = verdict_of(json.at("verdict").get<std::string>()).value();
  return verdict != Verdict::checker_error &&
         (verdict != Verdict::unknown ||
          (json.at("seconds_at_most") >= job.search.longest.count() &&
           json.at("executions_at_most") >= job.search.most_executions));
}

std::runtime_error is_no_journal(const std::filesystem::path& file) {
  return std::runtime_error(file.string() +
                            " is no journal of searches: name another file, or remove it");
}

}  // namespace

Journal::Journal(const std::filesystem::path& file) : name_(file), program_(this_program()) {
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    throw is_no_journal(file);  // a device may have no end
  }
  const std::string written = content_of(file);
  // The last line is a part of one if the run was broken off while it was written.
  const std::size_t whole = written.rfind('\n') + 1;
  std::istringstream lines(written.substr(0, whole));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("search") || !json.contains("program")) {
      throw is_no_journal(file);
    }
    if (json["program"] == program_) {
      lines_[json["search"]] = line;
    }
  }
  if (whole == 0 && !written.empty()) {
    throw is_no_journal(file);
  }
  file_.open(file, std::ios::app);
  if (!file_) {
    throw std::runtime_error("cannot write " + file.string());
  }
  if (whole != written.size()) {
    std::filesystem::resize_file(file, whole);
  }
}

std::string Journal::key_of(const Job& job) const {
  return std::string(job.scenario->name) + ", " + job.mutation.name() + ", " +
         job.search.bound.name();
}

std::optional<Result> Journal::find(const Job& job) const {
  const auto line = lines_.find(key_of(job));
  if (line == lines_.end()) {
    return std::nullopt;
  }
  const Json json = Json::parse(line->second);
  return says_enough(json, job) ? std::optional(from_json(json, job)) : std::nullopt;
}

void Journal::add(const Result& result) {
  Json json = to_json(result);
  json["program"] = program_;
  json["search"] = key_of(result.job);
  file_ << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  if (!file_) {
    throw std::runtime_error("cannot write " + name_.string());
  }
}

std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once, const Listener& listener,
                        Journal& journal) {
  std::vector<Result> results(jobs.size());
  std::vector<Job> missing;
  std::vector<Result*> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (auto kept = journal.find(jobs[i])) {
      results[i] = *std::move(kept);
    } else {
      missing.push_back(jobs[i]);
      places.push_back(&results[i]);
    }
  }
  const Listener adds{.ended =
                          [&](const Result& result) {
                            journal.add(result);
                            listener.ended(result);
                          },
                      .progress = listener.progress};
  std::vector<Result> found = run(missing, at_once, adds);
  for (std::size_t i = 0; i < found.size(); ++i) {
    *places[i] = std::move(found[i]);
  }
  return results;
}

}  // namespace byre::verification
