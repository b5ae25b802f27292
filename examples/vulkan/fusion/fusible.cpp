// SPDX-License-Identifier: BSL-1.0
#include "vulkan/fusion/fusible.hpp"

#include <byre/functional/dispatch/registry.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

namespace examples::vulkan {
namespace {

using byre::Dims;
using byre::DType;
using byre::Layout;
using byre::ViewGeometry;
using namespace byre::functional;

const std::unordered_map<std::string, Instruction::Operation>& pointwise_operations() {
  using enum Instruction::Operation;
  static const std::unordered_map<std::string, Instruction::Operation> all{
      {"add", add}, {"add.scalar", add}, {"sub", sub}, {"sub.scalar", sub},
      {"mul", mul}, {"mul.scalar", mul}, {"div", div}, {"div.scalar", div},
      {"neg", neg}, {"relu", relu},      {"exp", exp}, {"ge", ge},
      {"eq", eq},   {"where", select}};
  return all;
}

/// The arguments from `first` on, none of which is a tensor.
Arguments constants_of(const GraphNode& node, std::size_t first) {
  Arguments constants;
  for (std::size_t at = first; at < node.arguments.size(); ++at) {
    std::visit(
        [&constants](const auto& held) {
          if constexpr (requires { Argument(held); }) {
            constants.push_back(Argument(held));
          }
        },
        node.arguments[at]);
  }
  return constants;
}

/// The view operator that a name with this suffix is of, or null.
const Operator* view_of_name(const Operator& op, std::string_view suffix) {
  std::string name = op.name();
  const std::size_t end = std::min(name.find('.'), name.size());
  const std::string_view stem = std::string_view(name).substr(0, end);
  if (!stem.ends_with(suffix)) {
    return nullptr;
  }
  name.erase(end - suffix.size(), suffix.size());
  const Operator* const view = find_if_any(name);
  return view != nullptr && view->view() != nullptr ? view : nullptr;
}

/// What the view sees of a contiguous operand, or none for a node that is no such copy, or of another dtype.
std::optional<Layout> seen_by(const GraphIndex& index, const GraphNode& node,
                              std::string_view suffix, std::size_t first_constant) {
  const Operator* const view = view_of_name(*node.op, suffix);
  if (view == nullptr) {
    return std::nullopt;
  }
  const TensorMeta& self = index.meta(operand(node, 0));
  const ViewGeometry seen = (*view->view())(ViewGeometry::of_all(self.sizes, self.dtype),
                                            constants_of(node, first_constant))
                                .front();
  return seen.dtype == self.dtype ? std::optional(seen.layout) : std::nullopt;
}

bool is_f32(const GraphIndex& index, ValueId value) {
  return index.meta(value).dtype == DType::f32;
}

bool are_pointwise_operands(const GraphIndex& index, const GraphNode& node) {
  const bool chooses = node.op->name() == "where";
  bool fit = true;
  std::size_t number = 0;
  byre::functional::detail::for_each_operand(node, [&](ValueId value) {
    // A condition is computed on the way: bools are no elements of the kernel.
    fit = fit && (chooses && number == 0 ? index.meta(value).dtype == DType::boolean
                                         : is_f32(index, value));
    ++number;
  });
  return fit;
}

}  // namespace

ValueId operand(const GraphNode& node, std::size_t index) {
  return std::get<ValueId>(node.arguments[index]);
}

Instruction::Operation pointwise_operation(const GraphNode& node) {
  return pointwise_operations().at(node.op->name());
}

byre::Layout layout_of_gather(const GraphIndex& index, const GraphNode& node) {
  return *seen_by(index, node, "_copy", 1);
}

GraphIndex::GraphIndex(const Graph& graph) : graph_(&graph) {
  for (const GraphInput& input : graph.inputs) {
    metas_.push_back(input.meta);
    makers_.push_back(nullptr);
  }
  for (const GraphNode& node : graph.nodes) {
    first_results_.push_back({static_cast<std::uint32_t>(metas_.size())});
    for (const TensorMeta& meta : node.results) {
      metas_.push_back(meta);
      makers_.push_back(&node);
    }
  }
}

std::optional<std::array<std::int64_t, fused_axes>> fused_sizes(const Dims& sizes) {
  if (sizes.size() > fused_axes) {
    return std::nullopt;
  }
  std::array<std::int64_t, fused_axes> fused{1, 1, 1};
  std::copy(sizes.begin(), sizes.end(), fused.end() - static_cast<std::ptrdiff_t>(sizes.size()));
  constexpr std::int64_t most_groups = 65535;  // along an axis, on every device
  if (fused[0] > most_groups || fused[1] > most_groups || fused[2] > most_groups * fused_width) {
    return std::nullopt;
  }
  std::int64_t numel = 1;
  for (const std::int64_t size : fused) {
    numel *= size;
  }
  return numel != 0 && numel <= std::numeric_limits<std::int32_t>::max() / 4 ? std::optional(fused)
                                                                             : std::nullopt;
}

ValueId source_of_gather(const GraphIndex& index, const GraphNode& node) {
  const Layout read = layout_of_gather(index, node);
  ValueId source = operand(node, 0);
  for (const GraphNode* maker = index.maker(source); maker != nullptr && !maker->is_constant();
       maker = index.maker(source)) {
    const auto written = seen_by(index, *maker, "_scatter", 2);
    if (!written || (read.offset < written->end() && written->offset < read.end())) {
      break;
    }
    source = operand(*maker, 0);
  }
  return source;
}

std::optional<Box> box_of_scatter(const GraphIndex& index, const GraphNode& node) {
  const auto seen = seen_by(index, node, "_scatter", 2);
  if (!seen) {
    return std::nullopt;
  }
  const Dims& base = index.meta(operand(node, 0)).sizes;
  std::int64_t base_numel = 1;
  for (const std::int64_t size : base) {
    base_numel *= size;
  }
  if (4 * seen->numel() < base_numel) {
    return std::nullopt;
  }
  Box box{.begins = Dims(base.size()), .ends = Dims(base.size()), .axes = {}};
  std::int64_t offset = seen->offset;
  std::int64_t stride = base_numel;
  std::size_t dimension = 0;
  for (std::size_t axis = 0; axis < base.size(); ++axis) {
    stride /= std::max<std::int64_t>(base[axis], 1);
    const std::int64_t begin = stride == 0 ? 0 : offset / stride;
    offset -= begin * stride;
    const bool is_seen = dimension < seen->ndim() &&
                         (seen->strides[dimension] == stride || seen->sizes[dimension] == 1);
    const std::int64_t length = is_seen ? seen->sizes[dimension] : 1;
    if (is_seen) {
      box.axes.push_back(axis);
      ++dimension;
    }
    box.begins[axis] = begin;
    box.ends[axis] = begin + length;
    if (box.ends[axis] > base[axis]) {
      return std::nullopt;
    }
  }
  return dimension == seen->ndim() ? std::optional(box) : std::nullopt;
}

Fusion fusion_of(const GraphIndex& index, const GraphNode& node) {
  if (node.is_constant() || node.results.size() != 1 || !fused_sizes(node.results[0].sizes)) {
    return Fusion::none;
  }
  const bool is_bool = node.results[0].dtype == DType::boolean;
  if (pointwise_operations().contains(node.op->name())) {
    const bool compares = node.op->name() == "ge" || node.op->name() == "eq";
    return (compares ? is_bool : node.results[0].dtype == DType::f32) &&
                   are_pointwise_operands(index, node)
               ? Fusion::pointwise
               : Fusion::none;
  }
  if (node.results[0].dtype != DType::f32) {
    return Fusion::none;
  }
  if (node.op->name() == "full" || node.op->name() == "zeros" || node.op->name() == "ones") {
    return Fusion::pointwise;
  }
  if (node.op->name().find("_copy") != std::string::npos && seen_by(index, node, "_copy", 1)) {
    return Fusion::gather;
  }
  return box_of_scatter(index, node) ? Fusion::scatter : Fusion::none;
}

bool have_few_planes(const Dims& sizes) {
  return sizes.size() == fused_axes && sizes[0] > 1 && sizes[0] <= 4;
}

}  // namespace examples::vulkan
