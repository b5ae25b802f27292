// SPDX-License-Identifier: BSL-1.0
/// byre-verify --memory-orders: the tables of sites as a document, with the mutants that show each
/// row to be needed.
#pragma once

#include "../runner/options.hpp"

namespace byre::verification {

/// 0 iff every scenario that the tables name exists and notices a mutant of the row that names it,
/// every row that has mutants names one, every weakened order and every mistake that the row speaks
/// of is noticed by one of those, and what is printed is what the file to be checked says.
int run_memory_orders(const Options& options);

}  // namespace byre::verification
