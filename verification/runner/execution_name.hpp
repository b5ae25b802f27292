// SPDX-License-Identifier: BSL-1.0
/// The name of one execution: "scenario/mutant/bound/state", where the state is every choice of the
/// scheduler, three characters each: how many ways there were, which was taken, and what it decided.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "job.hpp"

namespace byre::verification {

/// A name that is not complete, or was changed; its text says where.
struct MalformedName : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Of a failed job.
std::string replay_string(const Job& job, const Found& found);

/// Scenario, mutant, bound, and the state as the checker takes it. Throws MalformedName.
std::vector<std::string> parts_of_replay_string(const std::string& text);
std::string unpacked_state(const std::string& text);

}  // namespace byre::verification
