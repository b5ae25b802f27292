// SPDX-License-Identifier: BSL-1.0
/// The command line of vulkan_diffusion.
#pragma once

#include "command_line.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace examples::diffusion {

/// What is simulated.
struct Plan {
  std::size_t size = 0;  ///< the grid has that many rows and columns
  std::size_t steps = 0;
  bool periodic = true;  ///< else what is outside keeps its first values
  std::uint64_t seed = 0;
  double feed = 0;  ///< the rate at which u comes in
  double kill = 0;  ///< the rate, beside `feed`, at which v goes

  /// Of the two fields with a border of one cell.
  std::uint64_t grid_nbytes() const noexcept {
    return std::uint64_t{2} * (size + 2) * (size + 2) * sizeof(float);
  }
};

struct Options {
  bool help = false;
  bool name_device = false;  ///< and nothing else
  Plan plan;
  bool on_device = true;  ///< else the host alone
  bool eager = false;     ///< functionalized anew in each step too
  bool compare = false;   ///< with shaders written by hand, and with copies in place of views
  std::size_t repetitions = 0;
  std::size_t snapshot_every = 0;
  std::filesystem::path frames;  ///< empty: none
  std::size_t frame_every = 0;
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

}  // namespace examples::diffusion
