// SPDX-License-Identifier: BSL-1.0
/// Runs each search in a process of its own, since the checker leaks its stacks and a mutant may
/// damage the process.
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
  /// If the scenario is a program of a family of small programs: that family. Else null.
  const Scenario* family = nullptr;
  Mutation mutation;
  Search search;
  bool is_replay = false;
};

struct Result {
  Job job;
  SearchResult found;
  std::vector<std::string> not_covered;  ///< cover points that no execution reached
  std::vector<std::string> reached;      ///< names of the sites reached
  std::string trace;                     ///< the shortest failing execution found
  std::string replay;                    ///< the replay string of `trace`
  std::vector<std::string> cut_short;    ///< in a family: programs whose search hit a limit

  /// For unchanged code: true if the search ended with the verdict that the scenario expects. For a
  /// mutant: true if an expected verdict killed it.
  bool is_as_expected() const noexcept;
};

/// A file of completed searches, so that an interrupted deep run can resume.
class Journal {
 public:
  /// Reads the searches in `file`, and opens the file to append to it. Ignores searches of other
  /// builds of this program. Throws std::runtime_error if the file is not a journal or cannot be
  /// written.
  explicit Journal(const std::filesystem::path& file);

  /// The lines that the child process wrote about this search. Empty if the search has to be run.
  std::vector<std::string> find(const Job& job) const;
  /// Stores the lines of a completed search. Throws std::runtime_error if the file cannot be
  /// written.
  void add(const Job& job, const std::vector<std::string>& lines);

 private:
  void check() const;

  const std::filesystem::path name_;
  const std::string program_;  ///< identifies this build
  std::ofstream file_;
  std::map<std::string, std::vector<std::string>> searches_;
};

/// Runs the jobs, `at_once` at a time, and returns results in the order of the jobs. Takes searches
/// from the journal if it has them, and adds completed ones to it. Calls `ended` for each search
/// that was run.
std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once,
                        const std::function<void(const Result&)>& ended,
                        Journal* journal = nullptr);

/// Merges the results of the programs of each family into one result, in the order of the jobs.
std::vector<Result> by_family(const std::vector<Result>& results);

/// Call in a child process: searches, and writes the outcome and the trace to `output`, one line
/// each.
void run_in_child(const Job& job, int output);

/// Call in a child process before its first search: hides all output and turns crashes into
/// verdicts.
void prepare_searches();

/// The name of a failing execution: "scenario/mutant/bound/state". The state is every choice of the
/// scheduler, three characters each: the number of alternatives, the index of the alternative
/// taken, and the kind of choice.
std::string replay_string(const Job& job, const SearchResult& found);
/// Returns scenario, mutant, bound and state. Throws UsageError if the text does not have these
/// four parts.
std::vector<std::string> parts_of_replay_string(const std::string& text);
/// Returns the state in the form that the checker reads. Throws UsageError if the text is
/// malformed.
std::string unpacked_state(const std::string& text);

/// The trace, with one column for each thread.
std::string trace_text(unsigned threads);

// Output for users: a line for each search when it ends, then failures in full, and totals.

/// Returns a function that prints each result. In place of programs of families that pass, it
/// prints at intervals how many jobs have ended.
std::function<void(const Result&)> report(std::size_t job_count);
/// Prints the failures, and the totals of each kind of scenario.
void print(const std::vector<Result>& results);
/// The sites of core's tables that no result has reached.
std::vector<std::string> unreached_sites(const std::vector<Result>& results);
/// The rows for --json, one for each result.
test::Json figures_of(const std::vector<Result>& results);

}  // namespace byre::verification
