// SPDX-License-Identifier: BSL-1.0
/// Copies of views that were made before, as values of a graph.
#pragma once

#include <byre/functional/graph/graph.hpp>
#include <cstddef>

namespace examples::vulkan {

/// What a view sees of a tensor that was written elsewhere since is what it saw before: such a copy becomes that one,
/// if there is one; and a copy of just what was written becomes what was written. Returns how many nodes went.
std::size_t forward_copies(byre::functional::Graph& graph);

}  // namespace examples::vulkan
