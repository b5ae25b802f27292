// SPDX-License-Identifier: BSL-1.0
/// What the user sees: a line of progress, a line for each search, and failures in full.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "job.hpp"
#include "support/json.hpp"

namespace byre::verification {

class Report {
 public:
  explicit Report(std::size_t job_count);

  Listener listener();
  /// The table, the failures, and what was never reached.
  void print(const std::vector<Result>& results) const;

 private:
  void clear_line() const;
  void show_progress() const;

  const std::size_t job_count_;
  const bool is_terminal_;
  std::size_t ended_ = 0;
  std::map<std::string, std::uint64_t> under_way_;
};

/// The rows of core's tables that none of the results reached.
std::vector<std::string> unreached_sites(const std::vector<Result>& results);

/// For --json: a row for each.
test::Json figures_of(const std::vector<Result>& results);

}  // namespace byre::verification
