// SPDX-License-Identifier: BSL-1.0
/// Searches in processes of their own: the checker leaks its stacks, and what a mutant does to its
/// process is nobody else's concern.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../relacy/mutation.hpp"
#include "../scenario.hpp"
#include "support/child_process.hpp"
#include "support/command_line.hpp"
#include "support/json.hpp"

namespace byre::verification {

using test::UsageError;

struct Job {
  const Scenario* scenario = nullptr;
  const Scenario* family = nullptr;  ///< that the scenario is a part of, if it is searched as one
  Mutation mutation;
  Search search;
  bool is_replay = false;
};

struct Result {
  Job job;
  SearchResult found;
  std::vector<std::string> not_covered;  ///< cover points that no execution reached
  std::vector<std::string> reached;      ///< names of sites
  std::string trace;                     ///< of a failure, the shortest that was found
  std::string replay;                    ///< of that
  std::vector<std::string> cut_short;    ///< of a family: the parts whose search was cut short

  /// Unchanged code: as the scenario expects. A mutant: whether it was killed, and rightly.
  bool is_as_expected() const noexcept;
};

/// Searches that ended, kept in a file: a deep run that was broken off goes on from there.
class Journal {
 public:
  /// Reads what is there, and adds to it. Searches of another build of this program are left out. Throws
  /// std::runtime_error if the file is no journal, or cannot be read or written.
  explicit Journal(const std::filesystem::path& file);

  /// The lines that the child wrote of that search; none if it has to be run.
  std::vector<std::string> find(const Job& job) const;
  /// The lines of a search that ended, and was not cut short. Throws std::runtime_error.
  void add(const Job& job, const std::vector<std::string>& lines);

 private:
  void check() const;

  const std::filesystem::path name_;
  const std::string program_;  ///< says which build this is
  std::ofstream file_;
  std::map<std::string, std::vector<std::string>> searches_;
};

/// Runs the jobs, `at_once` at a time. The results are in the order of the jobs. Searches in the journal are not run
/// again, and searches that end are added to it; `ended` is called with those that are run.
std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once,
                        const std::function<void(const Result&)>& ended,
                        Journal* journal = nullptr);

/// In place of the parts of a family, one result for it, in the order of the jobs.
std::vector<Result> by_family(const std::vector<Result>& results);

/// In a child: searches, and writes what came of it, a line each.
void run_in_child(const Job& job, int output);

/// In a child that searches by itself: nothing it writes is seen, and crashes become verdicts.
void prepare_searches();

/// The name of an execution of a failed job: "scenario/mutant/bound/state", where the state is every choice of the
/// scheduler, three characters each: how many ways there were, which was taken, and what it decided.
std::string replay_string(const Job& job, const SearchResult& found);
/// Scenario, mutant, bound and state. Throws UsageError.
std::vector<std::string> parts_of_replay_string(const std::string& text);
/// The state as the checker takes it. Throws UsageError.
std::string unpacked_state(const std::string& text);

/// The trace as columns, one for each thread.
std::string trace_text(unsigned threads);

// The output for users: a line for each search as it ends, failures in full, and totals.

/// Prints each result, or how many of the jobs have ended.
std::function<void(const Result&)> report(std::size_t job_count);
/// The failures, and the totals of each kind of scenario.
void print(const std::vector<Result>& results);
/// The rows of core's tables that none of the results reached.
std::vector<std::string> unreached_sites(const std::vector<Result>& results);
/// For --json: a row for each.
test::Json figures_of(const std::vector<Result>& results);

}  // namespace byre::verification
