// SPDX-License-Identifier: BSL-1.0
/// A file truncated under its mapping. Reading a page that is gone is fatal, as documented: SIGBUS,
/// and nothing else. Pages that remain, and clones written before, read what they read.
#pragma once

#include <string>
#include <vector>

#include "fault.hpp"

namespace byre::stress {

/// Truncates files to several sizes, each in a process of its own, and returns what was wrong. While
/// there is one thread only. Throws std::system_error where files or processes cannot be had.
std::vector<std::string> survive_truncated_files(FaultCount& count);

}  // namespace byre::stress
