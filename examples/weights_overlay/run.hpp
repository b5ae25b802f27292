// SPDX-License-Identifier: BSL-1.0
/// All requests, served at once with one way of cloning, and what that cost.
#pragma once

#include "process_memory.hpp"
#include "request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace examples::weights_overlay {

struct RunResult {
  Cloning cloning = Cloning::deep;
  std::int64_t set_up_ns = 0;        ///< of the median request
  std::int64_t worst_set_up_ns = 0;  ///< of the slowest one
  std::int64_t change_ns = 0;        ///< of the median request
  std::int64_t answer_ns = 0;        ///< of the median request
  std::optional<std::int64_t>
      resident_nbytes;                      ///< gained until all requests are set up and changed
  std::size_t copied_nbytes = 0;            ///< of layers that requests have for themselves
  std::size_t shared_nbytes = 0;            ///< of layers that they share with the model
  std::vector<std::size_t> changed_layers;  ///< of each request: those not of the model's weights
  std::vector<std::vector<float>> outputs;
};

/// Throws byre::Error, Interrupted.
RunResult run(Cloning cloning, const Model& base, const Plan& plan);

}  // namespace examples::weights_overlay
