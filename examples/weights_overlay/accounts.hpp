// SPDX-License-Identifier: BSL-1.0
/// What a request has for itself, and whether that is right.
#pragma once

#include "process_memory.hpp"
#include "request.hpp"

#include <cstddef>
#include <optional>

namespace examples::weights_overlay {

struct Accounts {
  std::size_t overlays = 0;       ///< layers that are overlays of the model's
  std::size_t shared_nbytes = 0;  ///< of layers that are the model's
  /// Of the pages written in overlays, as the system counts them, and of all other layers; nothing
  /// if the system does not say.
  std::optional<std::size_t> own_nbytes = 0;
  /// The same, of the pages that the changed rows lie in.
  std::size_t expected_own_nbytes = 0;
  /// Whether the changed rows, and no others, are not the model's.
  bool differs_where_changed = true;
};

/// Throws Interrupted.
Accounts accounts_of(const Request& request, const Model& base, const OwnMemory& own);

}  // namespace examples::weights_overlay
