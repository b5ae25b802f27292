// SPDX-License-Identifier: BSL-1.0
/// Graphs on the device: a captured program, executed by one command buffer.
#pragma once

#include <byre/functional/graph/graph.hpp>
#include <cstdint>
#include <vector>

#include "vulkan/backend/vulkan_tensor.hpp"

namespace examples::vulkan {

struct Fused;

/// Whether operations from element to element are computed together, with the copies of views that they read: the
/// results are the same bit by bit.
enum class Fusion : bool { off, on };

/// A graph whose constants are on the device. Immutable: threads may run it at once.
class VulkanGraph {
 public:
  /// Copies the constants to the device. Throws GraphError for a graph with views, VulkanError, OutOfMemory.
  explicit VulkanGraph(byre::functional::Graph graph, Fusion fusion = Fusion::on);
  VulkanGraph(const VulkanGraph&) = delete;
  VulkanGraph& operator=(const VulkanGraph&) = delete;
  ~VulkanGraph();

  /// Computes the outputs, on the device; it is not waited for. Inputs of the CPU are copied there. What is recorded is
  /// one command buffer, which is submitted on return. A value lives until its last use, whose kernel may write it in
  /// place: so may an input's that the caller moved. Throws ArgumentError for other inputs than were recorded,
  /// DeviceError for tensors of another backend, and whatever a kernel throws.
  byre::functional::Tensors run(byre::functional::Tensors inputs) const;

  /// The graph as it is executed.
  const byre::functional::Graph& graph() const noexcept { return graph_; }
  /// How many dispatches compute several operations of it.
  std::size_t fused_count() const noexcept;

 private:
  class Execution;

  byre::functional::Graph graph_;
  std::vector<std::pair<byre::functional::ValueId, byre::functional::AnyTensor>> constants_;
  std::vector<std::uint32_t> uses_;          ///< of each value
  std::vector<std::uint32_t> first_values_;  ///< of each node
  std::vector<Fused> groups_;
  std::vector<const Fused*> begun_at_;  ///< by node: the group that is computed there, or null
  std::vector<bool> is_fused_;          ///< by node
};

/// The same once.
byre::functional::Tensors execute_on_vulkan(const byre::functional::Graph& graph,
                                            const byre::functional::Tensors& inputs);

}  // namespace examples::vulkan
