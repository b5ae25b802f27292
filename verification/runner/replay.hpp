// SPDX-License-Identifier: BSL-1.0
/// From the name of an execution to the job that runs it again.
#pragma once

#include <string>

#include "job.hpp"

namespace byre::verification {

/// Throws UsageError.
Job parse_replay(const std::string& text);

}  // namespace byre::verification
