// SPDX-License-Identifier: BSL-1.0
/// Operations of a graph that are one dispatch, fused.comp: those from element to element, of f32, with the views'
/// copies that they read. Nothing in between is in memory.
#pragma once

#include <array>
#include <byre/functional/graph/graph.hpp>
#include <cstdint>
#include <vector>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {

/// Of fused.comp, in its order.
enum class FusedOperation : std::uint32_t {
  nothing,
  load_a,
  load_b,
  load_c,
  load_d,
  store_first,
  store_second,
  load_number,
  add,
  subtract,
  multiply,
  divide,
  negate,
  rectify,
  exponentiate,
};

/// Where something that is read or written stands: of which operand, and at which elements of it.
struct FusedPlace {
  std::uint32_t operand = 0;  ///< a number among the inputs, or the outputs
  std::int64_t offset = 0;
  byre::Dims strides;  ///< for the sizes of the group
  friend bool operator==(const FusedPlace&, const FusedPlace&) = default;
};

/// What one dispatch computes. All values have these sizes, and inputs broadcast to them.
struct Fused {
  static constexpr std::size_t most_slots = 64;
  static constexpr std::size_t most_inputs = 4;
  static constexpr std::size_t most_outputs = 2;
  static constexpr std::size_t most_places = 32;

  struct Slot {
    FusedOperation operation = FusedOperation::nothing;
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  std::vector<std::size_t> nodes;  ///< of the graph, in order
  byre::Dims sizes;
  std::vector<byre::functional::ValueId> inputs;
  std::vector<byre::functional::ValueId> outputs;
  std::vector<FusedPlace> places;  ///< that are read
  std::vector<Slot> slots;
  std::vector<float> numbers;
};

/// The groups of a functional graph, each by its first node; a node is in one at most. `first_values[i]` is the number
/// of the first result of node i.
std::vector<Fused> fused_groups(const byre::functional::Graph& graph,
                                const std::vector<std::uint32_t>& first_values);

/// Whether that is few enough places, in dimensions that are three once joined where they are one to all.
bool fits_three_dimensions(const byre::Dims& sizes, const std::vector<FusedPlace>& places);

/// Whether the elements of an input are each read by the invocation that writes that element of the result alone, so
/// that the result may take its memory.
bool reads_in_order(const Fused& fused, std::size_t input);

/// The results are written, and the inputs are read, in this order.
void run(const Fused& fused, const std::vector<VulkanTensor*>& outputs,
         const std::vector<VulkanTensor*>& inputs);

}  // namespace examples::vulkan
