// SPDX-License-Identifier: BSL-1.0
/// Every mutant against the scenarios.
#pragma once

#include "../runner/options.hpp"

namespace byre::verification {

/// byre-verify --mutants. 0 if every mutant is killed by a right verdict, and no scenario fails without one.
int run_mutants(const Options& options);

/// byre-verify --explain: each step of core's tables with its operation, its order and its mutants, and each number.
void explain();

}  // namespace byre::verification
