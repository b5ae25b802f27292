// SPDX-License-Identifier: BSL-1.0
/// What the user sees: how far it is, a line for each search, and failures in full.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "job.hpp"
#include "support/json.hpp"

namespace byre::verification {

class Report {
 public:
  Report(std::size_t job_count, unsigned at_once);

  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  Listener listener();

 private:
  using Clock = std::chrono::steady_clock;

  void clear_line() const;
  std::string progress_text(std::chrono::seconds longest) const;
  void show_progress(std::chrono::seconds longest);

  const std::size_t job_count_;
  const unsigned at_once_;
  const bool is_terminal_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point shown_ = begun_;
  std::size_t ended_ = 0;
  std::map<std::string, std::uint64_t> under_way_;
};

/// The failures and the table.
void print(const std::vector<Result>& results);

/// The rows of core's tables that none of the results reached.
std::vector<std::string> unreached_sites(const std::vector<Result>& results);

/// For --json: a row for each.
test::Json figures_of(const std::vector<Result>& results);

}  // namespace byre::verification
