// SPDX-License-Identifier: BSL-1.0
/// One run: the whole plan trained once, in one mode of taking snapshots, and what it cost. All
/// modes do the same work and differ in when the table is copied, in which parts, and from which memory.
#pragma once

#include "mode.hpp"
#include "progress.hpp"
#include "snapshot_files.hpp"
#include "stalls.hpp"
#include "training.hpp"

#include <byre/observe/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace examples::live_checkpoint {

struct RunSettings {
  std::optional<std::uint32_t> given_tile_rows;
  std::size_t queue_capacity;  ///< snapshots that may wait for the writer thread
  std::uint64_t full_every;    ///< snapshots from one full file to the next, if there are deltas

  /// Of each part that is copied for itself: all rows, in pages. Unless given, as many as make the smallest tile
  /// that the recycling pool keeps; fewer in a tiled buffer, where a snapshot costs the same whatever they are.
  std::uint32_t tile_rows(Mode mode, const Plan& plan) const noexcept;
};

struct RunResult {
  Mode mode;
  std::uint32_t tile_rows = 0;
  std::uint32_t tiles = 0;
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
