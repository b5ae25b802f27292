// SPDX-License-Identifier: BSL-1.0
#include "vulkan/fusion/emitter.hpp"

#include <byre/tensor/view_geometry.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace examples::vulkan {

using byre::Dims;
using byre::DType;
using byre::Layout;
using byre::Scalar;
using namespace byre::functional;

Emitter::Emitter(const GraphIndex& index, const std::vector<bool>& there, const Dims& sizes,
                 bool planes)
    : index_(index), there_(there), sizes_(sizes) {
  kernel_.sizes = *fused_sizes(sizes);
  kernel_.output_sizes = sizes;
  if (planes) {
    plane_count_ = std::exchange(kernel_.sizes[0], 1);
  }
  for (const std::int64_t size : kernel_.sizes) {
    kernel_.parameters.push_back(static_cast<std::int32_t>(size));
  }
}

bool Emitter::emit_output(ValueId value) try {
  Frame frame;
  const auto first = static_cast<int>(fused_axes - sizes_.size());
  for (std::size_t dimension = 0; dimension < sizes_.size(); ++dimension) {
    frame.push_back({first + static_cast<int>(dimension), 0});
  }
  std::vector<Stored> stored;
  for (std::int64_t plane = 0; plane < plane_count_; ++plane) {
    if (plane_count_ > 1) {
      frame[0] = {-1, -plane};
    }
    const std::int64_t plane_numel = kernel_.sizes[1] * kernel_.sizes[2];
    const std::uint8_t computed = emit(value, frame, 0);
    stored.push_back({computed, parameters({plane * plane_numel})});
  }
  stores_.push_back(std::move(stored));
  kernel_.outputs.push_back(value);
  return kernel_.outputs.size() <= fused_outputs &&
         kernel_.instructions.size() + stores_.size() * static_cast<std::size_t>(plane_count_) <=
             fused_instructions;
} catch (const DoesNotFit&) {
  return false;
}

FusedKernel Emitter::finish() {
  for (std::size_t output = 0; output < stores_.size(); ++output) {
    for (const Stored& stored : stores_[output]) {
      kernel_.instructions.push_back({.operation = Instruction::store,
                                      .a = stored.computed,
                                      .b = stored.behind,
                                      .c = static_cast<std::uint8_t>(output)});
    }
  }
  return std::move(kernel_);
}

std::uint8_t Emitter::emit(ValueId value, const Frame& frame, std::uint8_t window) {
  if (depth_ == fused_instructions) {
    throw DoesNotFit();
  }
  const auto key = std::tuple(value, frame, window);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  std::uint8_t computed;
  if (there_[value.number]) {
    computed =
        emit_load(value, byre::contiguous_layout(index_.meta(value).sizes, "fuse"), frame, window);
  } else {
    ++depth_;
    computed = emit_node(*index_.maker(value), frame, window);
    --depth_;
    inlined_.insert(value);
  }
  known_.emplace(key, computed);
  return computed;
}

std::uint8_t Emitter::emit_node(const GraphNode& node, const Frame& frame, std::uint8_t window) {
  switch (fusion_of(index_, node)) {
    case Fusion::gather:
      return emit_load(source_of_gather(index_, node), layout_of_gather(index_, node), frame,
                       window);
    case Fusion::scatter:
      return emit_scatter(node, frame, window);
    case Fusion::pointwise:
      return emit_pointwise(node, frame, window);
    case Fusion::none:
      break;
  }
  throw DoesNotFit();
}

std::uint8_t Emitter::emit_pointwise(const GraphNode& node, const Frame& frame,
                                     std::uint8_t window) {
  const std::string& name = node.op->name();
  if (name == "zeros" || name == "ones") {
    return emit_number(name == "ones" ? 1.0F : 0.0F);
  }
  if (name == "full") {
    return emit_number(std::get<Scalar>(node.arguments[1]).to_tensor(DType::f32).at<float>({}));
  }
  std::array<std::uint8_t, 3> operands{};
  for (std::size_t at = 0; at < node.arguments.size(); ++at) {
    if (const auto* const number = std::get_if<Scalar>(&node.arguments[at])) {
      operands[at] = emit_number(number->to_tensor(DType::f32).at<float>({}));
    } else {
      const ValueId value = operand(node, at);
      operands[at] = emit(value, broadcast(frame, index_.meta(value).sizes), window);
    }
  }
  return append({.operation = pointwise_operation(node),
                 .a = operands[0],
                 .b = operands[1],
                 .c = operands[2]});
}

std::uint8_t Emitter::emit_scatter(const GraphNode& node, const Frame& frame, std::uint8_t window) {
  const Box box = *box_of_scatter(index_, node);
  std::vector<std::int64_t> bounds(2 * fused_axes);
  for (std::size_t axis = 0; axis < fused_axes; ++axis) {
    bounds[fused_axes + axis] = kernel_.sizes[axis];
  }
  for (std::size_t axis = 0; axis < frame.size(); ++axis) {
    const Place place = frame[axis];
    if (place.axis < 0) {
      if (-place.shift < box.begins[axis] || -place.shift >= box.ends[axis]) {
        return emit(operand(node, 0), frame, window);
      }
      continue;
    }
    const auto at = static_cast<std::size_t>(place.axis);
    bounds[at] = box.begins[axis] + place.shift;
    bounds[fused_axes + at] = box.ends[axis] + place.shift;
  }
  Frame of_source;
  for (const std::size_t axis : box.axes) {
    of_source.push_back({frame[axis].axis, frame[axis].shift + box.begins[axis]});
  }
  bool is_everywhere = true;
  for (std::size_t axis = 0; axis < fused_axes; ++axis) {
    is_everywhere =
        is_everywhere && bounds[axis] <= 0 && bounds[fused_axes + axis] >= kernel_.sizes[axis];
  }
  if (is_everywhere) {
    return emit(operand(node, 1), of_source, window);
  }
  const std::uint8_t base = emit(operand(node, 0), frame, window);
  const std::uint8_t inside =
      append({.operation = Instruction::window, .a = parameters(bounds), .b = window});
  const std::uint8_t source =
      emit(operand(node, 1), of_source, static_cast<std::uint8_t>(inside + 1));
  return append({.operation = Instruction::select, .a = inside, .b = source, .c = base});
}

std::uint8_t Emitter::emit_load(ValueId value, const Layout& layout, const Frame& frame,
                                std::uint8_t window) {
  if (!there_[value.number] || index_.meta(value).dtype != DType::f32) {
    throw DoesNotFit();
  }
  std::vector<std::int64_t> address(1 + fused_axes);
  address[0] = layout.offset;
  for (std::size_t dimension = 0; dimension < frame.size(); ++dimension) {
    const Place place = frame[dimension];
    address[0] -= place.shift * layout.strides[dimension];
    if (place.axis >= 0) {
      address[1 + static_cast<std::size_t>(place.axis)] += layout.strides[dimension];
    }
  }
  const std::uint8_t binding = binding_of(value);
  const std::int64_t plane_numel = kernel_.sizes[1] * kernel_.sizes[2];
  const std::array<std::int64_t, fused_axes> own{plane_numel, kernel_.sizes[2], 1};
  bool is_own = index_.meta(value).sizes == sizes_ &&
                (plane_count_ > 1 ? address[0] % plane_numel == 0 : address[0] == 0);
  for (std::size_t axis = 0; axis < fused_axes; ++axis) {
    is_own = is_own && (kernel_.sizes[axis] == 1 || address[1 + axis] == own[axis]);
  }
  kernel_.reads_own_element[binding] = kernel_.reads_own_element[binding] && is_own;
  Instruction load{.operation = Instruction::load, .a = parameters(address), .b = 0, .c = binding};
  const auto& known = kernel_.instructions;
  if (std::find(known.begin(), known.end(), load) == known.end()) {
    load.b = window;  // else it is read anyway
  }
  return append(load);
}

std::uint8_t Emitter::emit_number(float number) {
  auto& numbers = kernel_.numbers;
  const auto is_same = [number](float known) {
    return std::bit_cast<std::uint32_t>(known) == std::bit_cast<std::uint32_t>(number);
  };
  const auto at = std::find_if(numbers.begin(), numbers.end(), is_same) - numbers.begin();
  if (static_cast<std::size_t>(at) == numbers.size()) {
    if (numbers.size() == fused_numbers) {
      throw DoesNotFit();
    }
    numbers.push_back(number);
  }
  return append({.operation = Instruction::number, .a = static_cast<std::uint8_t>(at)});
}

std::uint8_t Emitter::append(Instruction instruction) {
  auto& all = kernel_.instructions;
  if (const auto same = std::find(all.begin(), all.end(), instruction); same != all.end()) {
    return static_cast<std::uint8_t>(same - all.begin());
  }
  if (all.size() >= fused_instructions) {
    throw DoesNotFit();
  }
  all.push_back(instruction);
  return static_cast<std::uint8_t>(all.size() - 1);
}

std::uint8_t Emitter::parameters(const std::vector<std::int64_t>& numbers) {
  const auto [known, is_new] =
      known_parameters_.try_emplace(numbers, static_cast<std::uint8_t>(kernel_.parameters.size()));
  if (!is_new) {
    return known->second;
  }
  if (kernel_.parameters.size() + numbers.size() > fused_parameters) {
    throw DoesNotFit();
  }
  for (const std::int64_t number : numbers) {
    kernel_.parameters.push_back(static_cast<std::int32_t>(number));
  }
  return known->second;
}

std::uint8_t Emitter::binding_of(ValueId value) {
  auto& inputs = kernel_.inputs;
  const auto known = std::find(inputs.begin(), inputs.end(), value);
  if (known != inputs.end()) {
    return static_cast<std::uint8_t>(known - inputs.begin());
  }
  if (inputs.size() == fused_inputs) {
    throw DoesNotFit();
  }
  inputs.push_back(value);
  kernel_.reads_own_element.push_back(true);
  return static_cast<std::uint8_t>(inputs.size() - 1);
}

Emitter::Frame Emitter::broadcast(const Frame& frame, const Dims& from) const {
  Frame narrower(frame.end() - static_cast<std::ptrdiff_t>(from.size()), frame.end());
  for (std::size_t dimension = 0; dimension < from.size(); ++dimension) {
    if (from[dimension] == 1) {
      narrower[dimension] = {};
    }
  }
  return narrower;
}

}  // namespace examples::vulkan
