// SPDX-License-Identifier: BSL-1.0
/// Which nodes of a graph a fused kernel can compute, and what it reads and writes for them.
#pragma once

#include <byre/functional/graph/graph.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "vulkan/fusion/kernel.hpp"

namespace examples::vulkan {

using byre::functional::Graph;
using byre::functional::GraphNode;
using byre::functional::ValueId;

/// What the fusion knows of a graph.
class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  const Graph& graph() const noexcept { return *graph_; }
  std::uint32_t value_count() const noexcept { return static_cast<std::uint32_t>(metas_.size()); }
  const byre::functional::TensorMeta& meta(ValueId value) const { return metas_[value.number]; }
  /// The node it is a result of, or null for an input.
  const GraphNode* maker(ValueId value) const { return makers_[value.number]; }
  ValueId first_result(std::size_t node) const { return first_results_[node]; }

 private:
  const Graph* graph_;
  std::vector<byre::functional::TensorMeta> metas_;
  std::vector<const GraphNode*> makers_;
  std::vector<ValueId> first_results_;
};

/// How a fused kernel computes a node, if it can at all.
enum class Fusion : std::uint8_t {
  none,       ///< by an operator of its own
  pointwise,  ///< from element to element
  gather,     ///< each element is one of its operand, which has to be there
  scatter,    ///< of the base, and of the source where a window is
};
Fusion fusion_of(const GraphIndex& index, const GraphNode& node);

/// The tensor that is this argument.
ValueId operand(const GraphNode& node, std::size_t index);
/// Of a pointwise node.
Instruction::Operation pointwise_operation(const GraphNode& node);
/// What a gather sees of its operand, which is contiguous.
byre::Layout layout_of_gather(const GraphIndex& index, const GraphNode& node);

/// What a gather reads: its operand, or what that is made of by scatters to elsewhere.
ValueId source_of_gather(const GraphIndex& index, const GraphNode& node);

/// The elements of the base that a scatter writes: a box in it. None for other views, and for one that is less than a
/// quarter of the base: that is better written in place.
struct Box {
  byre::Dims begins;
  byre::Dims ends;
  std::vector<std::size_t> axes;  ///< of the base, for each dimension of the source
};
std::optional<Box> box_of_scatter(const GraphIndex& index, const GraphNode& node);

/// Whether outputs of these sizes consist of few planes.
bool have_few_planes(const byre::Dims& sizes);

/// The sizes as fused axes, if they fit.
std::optional<std::array<std::int64_t, fused_axes>> fused_sizes(const byre::Dims& sizes);

}  // namespace examples::vulkan
