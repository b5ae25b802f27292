// SPDX-License-Identifier: BSL-1.0
/// How a graph is computed in few passes over memory: chains of operators from element to element, with the views
/// that they read by and the boxes that they write, become one kernel each.
#pragma once

#include <byre/functional/graph/graph.hpp>

#include <cstddef>
#include <variant>
#include <vector>

#include "vulkan/fusion/kernel.hpp"

namespace examples::vulkan {

/// A node, by its number, which an operator computes; or a kernel.
using Step = std::variant<std::size_t, FusedKernel>;

/// In an order in which each finds there what it takes. Values that no step makes are on the way of a kernel alone.
std::vector<Step> plan_steps(const byre::functional::Graph& graph);

}  // namespace examples::vulkan
