// SPDX-License-Identifier: BSL-1.0
/// The supervisor of a run: starts workers, kills them at random points, and checks afterwards that
/// the system has nothing of them left.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "processes/channels.hpp"
#include "processes/worker.hpp"

namespace byre::stress::processes {

struct RunSettings {
  std::uint64_t seed = 0;
  std::uint64_t kills = 1000;
  std::size_t workers = 8;
  Fault fault = Fault::none;
  bool is_alone = false;  ///< whether no other program of the machine uses shared memory meanwhile
};

struct RunFigures {
  std::uint64_t kills = 0;
  std::uint64_t processes = 0;  ///< that were workers
  std::uint64_t most_at_once = 0;
  std::uint64_t survivors = 0;                   ///< workers that were not killed
  std::array<std::uint64_t, step_count> done{};  ///< steps that had an effect
  std::array<std::uint64_t, step_count>
      killed_in{};                        ///< kills, by the step that the worker had begun
  std::int64_t shared_growth_nbytes = 0;  ///< of the machine's shared memory
  std::chrono::duration<double> seconds{};
};

/// Runs until `settings.kills` workers were killed. Prints progress to standard error. Throws
/// std::runtime_error if a worker found an error or failed, if the workers hang, or if something is
/// left of them, and prints the command that repeats the run. No child process is left, even after
/// an error.
RunFigures run(const RunSettings& settings);

}  // namespace byre::stress::processes
