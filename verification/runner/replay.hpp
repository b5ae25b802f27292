// SPDX-License-Identifier: BSL-1.0
/// The name of one execution: "scenario/mutant/bound/state", where the state is every choice of the
/// scheduler, three characters each: how many ways there were, which was taken, and what it decided.
#pragma once

#include <string>

#include "job.hpp"

namespace byre::verification {

/// Of a failed job.
std::string replay_string(const Job& job, const Found& found);

/// The job that runs that one execution. Throws UsageError.
Job parse_replay(const std::string& text);

}  // namespace byre::verification
