// SPDX-License-Identifier: BSL-1.0
/// The name of one execution: "scenario/mutant/bound/state", where the state is every choice of the
/// scheduler, three characters each: how many ways there were, which was taken, and what it decided.
#pragma once

#include <string>
#include <vector>

#include "job.hpp"

namespace byre::verification {

/// Of a failed job.
std::string replay_string(const Job& job, const Found& found);

/// Scenario, mutant, bound and state. Throws UsageError.
std::vector<std::string> parts_of_replay_string(const std::string& text);
/// The state as the checker takes it. Throws UsageError.
std::string unpacked_state(const std::string& text);

}  // namespace byre::verification
