// SPDX-License-Identifier: BSL-1.0
/// A worker: a process that performs random steps on a few values until it is killed.
#pragma once

#include <cstdint>
#include <string>

#include "processes/channels.hpp"

namespace byre::stress::processes {

/// Faults that a run must detect.
enum class Fault : std::uint8_t {
  none,
  blind_owner,      ///< owners find that no other process has their data, although one may
  deaf_owner,       ///< owners never notice that a view ended
  written_view,     ///< workers write shared data through its mapping
  kept_descriptor,  ///< the supervisor keeps a descriptor of a survivor's data
  kept_value,       ///< a survivor does not drop a value
  kept_by_exec,     ///< a program that a worker executes inherits a descriptor
  left_process,     ///< the supervisor does not wait for a child
  left_descriptor,  ///< the supervisor leaves a descriptor open
  left_mapping,     ///< the supervisor leaves a memory file mapped
  left_memory,      ///< the supervisor leaves other shared memory
};
inline constexpr const char* fault_names[] = {"none",         "blind_owner",     "deaf_owner",
                                              "written_view", "kept_descriptor", "kept_value",
                                              "kept_by_exec", "left_process",    "left_descriptor",
                                              "left_mapping", "left_memory"};

struct WorkerSettings {
  std::uint64_t seed = 0;    ///< of the run
  std::uint64_t number = 0;  ///< with the seed, determines the steps
  Fault fault = Fault::none;
  Step done = Step::none;  ///< the step that started the program anew

  /// For the command line of a worker.
  std::string text() const;
  static WorkerSettings from(const std::string& text);
};

/// The exit status of a worker that found an error, which it printed.
inline constexpr int found_an_error = 3;

/// Never returns.
[[noreturn]] void work(const Channels& channels, const WorkerSettings& settings) noexcept;

}  // namespace byre::stress::processes
