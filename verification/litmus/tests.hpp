// SPDX-License-Identifier: BSL-1.0
/// The litmus tests, one file each.
#pragma once

#include <span>

#include "../scenario.hpp"

namespace byre::verification {

std::span<const Scenario> litmus_of_orders();
std::span<const Scenario> litmus_of_release_sequences();
std::span<const Scenario> litmus_of_locks();
std::span<const Scenario> litmus_of_parking();
std::span<const Scenario> litmus_of_memory();

}  // namespace byre::verification
