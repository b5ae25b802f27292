// SPDX-License-Identifier: BSL-1.0
/// The output for users: a line for each search as it ends, failures in full, and totals.
#pragma once

#include <string>
#include <vector>

#include "job.hpp"
#include "support/json.hpp"

namespace byre::verification {

/// Prints each result, or how many of the jobs have ended.
std::function<void(const Result&)> report(std::size_t job_count);

/// The failures, and the totals of each kind of scenario.
void print(const std::vector<Result>& results);

/// The rows of core's tables that none of the results reached.
std::vector<std::string> unreached_sites(const std::vector<Result>& results);

/// For --json: a row for each.
test::Json figures_of(const std::vector<Result>& results);

}  // namespace byre::verification
