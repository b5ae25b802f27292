// SPDX-License-Identifier: BSL-1.0
/// Writes the instructions of a fused kernel: an expression over values of a graph that are there, from the results
/// down to what they are made of.
#pragma once

#include <byre/functional/graph/graph.hpp>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "vulkan/fusion/fusible.hpp"

namespace examples::vulkan {

/// Of one kernel.
class Emitter {
 public:
  /// `there`: the values that are in memory when the kernel begins. `planes`: a thread computes an element of each of
  /// the few planes that the outputs consist of, so that what is in one plane alone is computed for that alone.
  Emitter(const GraphIndex& index, const std::vector<bool>& there, const byre::Dims& sizes,
          bool planes);

  /// Computes an output, of the kernel's sizes. False if it does not fit; the emitter is of no use then.
  bool emit_output(ValueId value);
  FusedKernel finish();

  /// Values that were computed on the way, without the outputs.
  const std::set<ValueId>& inlined() const noexcept { return inlined_; }

 private:
  /// Which index of a dimension of a value a thread needs: its own along an axis, or 0 without one; less a shift.
  struct Place {
    int axis = -1;
    std::int64_t shift = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Frame = std::vector<Place>;
  struct DoesNotFit {};

  std::uint8_t emit(ValueId value, const Frame& frame, std::uint8_t window);
  std::uint8_t emit_node(const GraphNode& node, const Frame& frame, std::uint8_t window);
  std::uint8_t emit_pointwise(const GraphNode& node, const Frame& frame, std::uint8_t window);
  std::uint8_t emit_scatter(const GraphNode& node, const Frame& frame, std::uint8_t window);
  std::uint8_t emit_load(ValueId value, const byre::Layout& layout, const Frame& frame,
                         std::uint8_t window);
  std::uint8_t emit_number(float number);
  std::uint8_t append(Instruction instruction);
  std::uint8_t parameters(const std::vector<std::int64_t>& numbers);
  std::uint8_t binding_of(ValueId value);
  Frame broadcast(const Frame& frame, const byre::Dims& from) const;

  const GraphIndex& index_;
  const std::vector<bool>& there_;
  const byre::Dims sizes_;
  FusedKernel kernel_;
  struct Stored {
    std::uint8_t computed;  // a register
    std::uint8_t behind;    // a parameter: how far behind the thread's element it goes
  };
  std::int64_t plane_count_ = 1;
  std::vector<std::vector<Stored>> stores_;  // of each output
  std::map<std::tuple<ValueId, Frame, std::uint8_t>, std::uint8_t> known_;
  std::map<std::vector<std::int64_t>, std::uint8_t> known_parameters_;
  std::set<ValueId> inlined_;
  std::size_t depth_ = 0;  // of the expression that is being written
};

}  // namespace examples::vulkan
