// SPDX-License-Identifier: BSL-1.0
/// Graphs on the device: a captured program, executed by one command buffer.
#pragma once

#include <byre/functional/graph/graph.hpp>
#include <cstdint>
#include <vector>

#include "vulkan/backend/vulkan_tensor.hpp"
#include "vulkan/fusion/plan.hpp"

namespace examples::vulkan {

/// Whether chains of operators become one kernel each; see fusion/plan.hpp.
enum class Fuse : bool { no, yes };

/// A graph whose constants are on the device. Immutable: threads may run it at once.
class VulkanGraph {
 public:
  /// Copies the constants to the device. Throws GraphError for a graph with views and for one that no recording makes,
  /// VulkanError, OutOfMemory.
  explicit VulkanGraph(byre::functional::Graph graph, Fuse fuse = Fuse::yes);

  /// Computes the outputs, on the device; it is not waited for. Inputs of the CPU are copied there. What is recorded is
  /// one command buffer, which is submitted on return. A value lives until its last use, whose kernel may write it in
  /// place: so may an input's that the caller moved. Throws ArgumentError for other inputs than were recorded,
  /// DeviceError for tensors of another backend, and whatever a kernel throws.
  byre::functional::Tensors run(byre::functional::Tensors inputs) const;

  /// Without what no output needs.
  const byre::functional::Graph& graph() const noexcept { return graph_; }
  /// What a run does, one after the other.
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  class Execution;

  byre::functional::Graph graph_;
  std::vector<Step> steps_;
  std::vector<byre::functional::ValueId> first_results_;  ///< of each node
  byre::functional::Tensors constants_;  ///< of each node; no tensor for an operation
  std::vector<std::uint32_t> uses_;      ///< of each value, by steps and as outputs
};

/// The same once.
byre::functional::Tensors execute_on_vulkan(const byre::functional::Graph& graph,
                                            const byre::functional::Tensors& inputs);

}  // namespace examples::vulkan
