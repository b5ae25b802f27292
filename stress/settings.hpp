// SPDX-License-Identifier: BSL-1.0
/// The settings of a run, and the command line that sets them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perturbed/perturbation.hpp"
#include "programs/mix.hpp"

namespace byre::stress {

inline constexpr unsigned least_race_threads = 2;
inline constexpr unsigned most_threads = 64;
inline constexpr std::uint64_t most_size_nbytes = std::uint64_t{64} << 20;

struct Settings {
  std::uint64_t seed = 0;
  unsigned threads = 8;
  std::size_t slots = 4;  ///< per thread: the number of buffers, and the number of storages
  std::size_t most_nbytes = most_size_nbytes;  ///< limit of the size of a value
  std::optional<programs::Mix> mix{};          ///< empty: the default of the workload
  Perturbation perturbation{};                 ///< random delays of threads; default: none
  std::chrono::duration<double> duration{10};
  bool repeats_history = false;
  std::optional<std::uint64_t> operations{};  ///< per thread, instead of a duration
};

/// Named numbers of a run that only some workloads have.
using Figures = std::vector<std::pair<std::string_view, std::uint64_t>>;

/// The command line that repeats a run of `workload`.
std::string command_of(std::string_view workload, const Settings& settings);

struct Options {
  bool help = false;
  bool list = false;
  bool json = false;
  bool soak = false;  ///< all workloads in turn, for `duration` in total
  std::string workload = "mixed";
  Settings settings;
};

/// Throws test::UsageError if an option is invalid. The seed is random if the options contain none.
Options parse(int argc, const char* const* argv);
std::string help_text();

}  // namespace byre::stress
