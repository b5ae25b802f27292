// SPDX-License-Identifier: BSL-1.0
/// All requests, served at once in one way, and what that cost.
#pragma once

#include "accounts.hpp"
#include "request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace examples::weights_overlay {

/// What a request copies.
enum class Copying {
  model,   ///< all layers when it begins, of the mapped model
  layers,  ///< a layer when it first writes to it, of the model in ordinary memory
  pages,   ///< a page when it first writes to it, of the mapped model
};

/// "deep copies", "lazy, loaded", "lazy, mapped"
const char* to_string(Copying copying) noexcept;

struct RunResult {
  Copying copying = Copying::model;
  std::int64_t open_ns = 0;    ///< to load or map the model
  std::int64_t set_up_ns = 0;  ///< of the median request, as the next three
  std::int64_t change_ns = 0;
  std::int64_t branch_ns = 0;  ///< to set up a branch of a request, and change that
  std::int64_t answer_ns = 0;
  /// Gained until the model is open and all requests are set up and changed.
  std::optional<std::int64_t> resident_nbytes;
  std::vector<Accounts> accounts;           ///< of requests, then of their branches
  std::vector<std::vector<float>> outputs;  ///< in the same order
};

/// Throws byre::Error, Interrupted.
RunResult run(Copying copying, const ModelFiles& files, const Plan& plan);

}  // namespace examples::weights_overlay
