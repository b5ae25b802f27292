// SPDX-License-Identifier: BSL-1.0
/// The command line, checked against what the machine can hold.
#pragma once

#include "command_line.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace examples::weights_overlay {

/// What the model and the requests are like.
struct Plan {
  std::size_t layers = 0;
  std::size_t width = 0;  ///< a layer is a square matrix of f32
  std::size_t requests = 0;
  std::size_t changed = 0;  ///< layers that each request changes
  std::size_t rows = 0;     ///< of each of these layers
  std::uint64_t seed = 0;

  std::size_t layer_nbytes() const noexcept { return width * width * sizeof(float); }
  std::uint64_t model_nbytes() const noexcept { return std::uint64_t{layers} * layer_nbytes(); }
};

struct Options {
  bool help = false;
  Plan plan;
  JsonOption json;
};

/// Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string help_text();

}  // namespace examples::weights_overlay
