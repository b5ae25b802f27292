// SPDX-License-Identifier: BSL-1.0
/// Searches that ended, kept in a file: a deep run that was broken off goes on from there.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "job.hpp"

namespace byre::verification {

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

}  // namespace byre::verification
