// SPDX-License-Identifier: BSL-1.0
/// A file truncated under its mapping. A read of a page that is gone ends in SIGBUS, as documented. Remaining
/// pages read as before, and so do clones that were written before.
#pragma once

#include <string>
#include <vector>

#include "fault.hpp"

namespace byre::stress {

/// Truncates files to several sizes, each in a process of its own, and returns the failures. By a program
/// with one thread. Throws std::system_error if files or processes cannot be had.
std::vector<std::string> survive_truncated_files(FaultCount& count);

}  // namespace byre::stress
