// SPDX-License-Identifier: BSL-1.0
/// byre-verify --mutants: every mutant against the scenarios, as a document in Markdown.
#pragma once

#include "../runner/options.hpp"

namespace byre::verification {

/// 0 iff every mutant is killed by the right verdict, or is argued to be equivalent, and what is
/// printed is what the file to be checked says.
int run_mutants(const Options& options);

}  // namespace byre::verification
