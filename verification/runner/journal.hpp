// SPDX-License-Identifier: BSL-1.0
/// Searches that ended, kept in a file: a long run that was broken off goes on from there.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "job.hpp"

namespace byre::verification {

class Journal {
 public:
  /// Reads what is there, a search a line, and adds to it. Searches of another build of this program are
  /// left out, for that may have been of other code. Throws std::runtime_error if the file is no journal, or
  /// cannot be read or written.
  explicit Journal(const std::filesystem::path& file);

  /// What came of that search. Not of one that was cut short, unless by limits as wide as the job's, nor of
  /// one where the checker gave up.
  std::optional<Result> find(const Job& job) const;
  /// Throws std::runtime_error.
  void add(const Result& result);

 private:
  std::string key_of(const Job& job) const;

  const std::filesystem::path name_;
  const std::string program_;  ///< says which build this is
  std::ofstream file_;
  std::map<std::string, std::string> lines_;
};

/// What of the jobs is not in the journal is run, and added to it; `listener` hears of those alone.
std::vector<Result> run(const std::vector<Job>& jobs, unsigned at_once, const Listener& listener,
                        Journal& journal);

}  // namespace byre::verification
