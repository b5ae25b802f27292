// SPDX-License-Identifier: BSL-1.0
/// One run: the whole plan trained once, in one mode of taking snapshots, and what it cost. All
/// modes do the same work and differ in when the table is copied, in which parts, and from which memory.
#pragma once

#include "mode.hpp"
#include "progress.hpp"
#include "snapshot_files.hpp"
#include "stalls.hpp"
#include "training.hpp"

#include <byre/stats/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

struct RunSettings {
  std::uint32_t tile_rows;
  std::size_t queue_capacity;  ///< snapshots that may wait for the writer thread
  std::uint64_t full_every;    ///< snapshots from one full file to the next, if there are deltas

  std::uint32_t tiles_of(const Plan& plan) const noexcept {
    return (plan.rows + tile_rows - 1) / tile_rows;
  }
};

struct RunResult {
  Mode mode;
  std::vector<WrittenSnapshot> written;
  StallSummary stalls;
  std::int64_t waited_for_writer_ns = 0;  ///< no room in the queue: not a stall, see stalls.hpp
  std::int64_t training_ns = 0;           ///< from the first token to the last, all waits included
  std::int64_t finishing_ns = 0;          ///< from the last token to the last file
  byre::stats::Counters copying;          ///< over training and writing; zeros without stats
  std::optional<std::uint64_t> peak_nbytes;
  std::optional<std::uint64_t> page_faults;  ///< of the training thread

  double seconds() const noexcept { return static_cast<double>(training_ns) / 1e9; }
  std::uint64_t written_nbytes() const noexcept {
    std::uint64_t nbytes = 0;
    for (const WrittenSnapshot& snapshot : written) {
      nbytes += snapshot.nbytes;
    }
    return nbytes;
  }
};

/// Trains and writes the snapshots into `directory`. Throws Failure, byre::Error, Interrupted.
RunResult run(Mode mode, const Plan& plan, const RunSettings& settings,
              const std::filesystem::path& directory, Progress& progress);

}  // namespace examples::live_checkpoint
