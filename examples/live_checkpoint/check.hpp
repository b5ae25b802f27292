// SPDX-License-Identifier: BSL-1.0
/// The proof: training is repeated on one thread and one plain array, without byre or snapshots,
/// and every snapshot, restored from its files on disk, must have the checksum that the array has at
/// that token.
#pragma once

#include "progress.hpp"
#include "snapshot_files.hpp"
#include "training.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

/// The checksums that the snapshots' files ought to have, in order. Throws std::bad_alloc,
/// Interrupted.
std::vector<std::uint32_t> replay(const Plan& plan, Progress& progress);

/// What is wrong with the snapshots of `mode`, a sentence each: nothing, one hopes. Throws
/// Interrupted.
std::vector<std::string> check(const std::string& mode, const std::vector<WrittenSnapshot>& written,
                               const std::vector<std::uint32_t>& expected, Progress& progress);

}  // namespace examples::live_checkpoint
