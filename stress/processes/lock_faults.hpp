// SPDX-License-Identifier: BSL-1.0
/// Replaces flock() in this program, so that it can give wrong answers.
#pragma once

#include "processes/worker.hpp"

namespace byre::stress::processes {

/// From now on, flock() fails as Fault::blind_owner or Fault::deaf_owner describes.
void set_fault_of_locks(Fault fault) noexcept;

}  // namespace byre::stress::processes
