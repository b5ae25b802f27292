// SPDX-License-Identifier: BSL-1.0
/// Compares byre with the model: one value, two values, or all counts.
#pragma once

#include <array>
#include <vector>

#include "target_state.hpp"

namespace byre::fuzz {

void check(BufferSlot& slot);
void check(StorageSlot& slot);
/// Of the storages it looks at those that the pin is of.
void check(PinSlot& slot, const std::array<StorageSlot, 6>& storages);

/// Whether each two share data.
void check_sharing(TargetState& target);

/// Counters, copies that sinks saw, blocks and deleters. Between steps, not within one.
void check_predictions(TargetState& target, const std::vector<Copy>& seen);

}  // namespace byre::fuzz
