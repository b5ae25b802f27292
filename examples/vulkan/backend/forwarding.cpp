// SPDX-License-Identifier: BSL-1.0
#include "vulkan/backend/forwarding.hpp"

#include <byre/functional/dispatch/registry.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Layout;
using byre::ViewGeometry;

/// The view of "select_copy" and of "select_scatter", or null.
const Operator* view_of_name(const std::string& name, const std::string& suffix) {
  return name.ends_with(suffix) ? find_if_any(name.substr(0, name.size() - suffix.size()))
                                : nullptr;
}

/// What the node's view sees of its first operand, its other arguments being from `first` on.
ViewGeometry geometry_of_node(const Operator& view, const GraphNode& node, std::size_t first,
                              const TensorMeta& self) {
  Arguments given;
  for (std::size_t index = first; index < node.arguments.size(); ++index) {
    std::visit(
        [&given](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (!std::is_same_v<Held, ValueId> &&
                        !std::is_same_v<Held, std::vector<ValueId>>) {
            given.emplace_back(held);
          }
        },
        node.arguments[index]);
  }
  return (*view.view())(ViewGeometry::of_all(self.sizes, self.dtype), given).front();
}

bool are_apart(const Layout& a, const Layout& b) {
  return a.end() <= b.offset || b.end() <= a.offset;
}

struct Written {
  ValueId base;
  ValueId source;
  Layout where;
};

struct Seen {
  ValueId copy;
  Layout layout;
};

}  // namespace

std::size_t forward_copies(Graph& graph) {
  std::vector<TensorMeta> metas;
  for (const GraphInput& input : graph.inputs) {
    metas.push_back(input.meta);
  }
  std::map<ValueId, Written> written;
  std::map<ValueId, std::vector<Seen>> seen;
  std::map<ValueId, ValueId> instead;
  const auto renamed = [&instead](ValueId& value) {
    const auto other = instead.find(value);
    value = other == instead.end() ? value : other->second;
  };
  for (GraphNode& node : graph.nodes) {
    byre::functional::detail::for_each_operand(node, renamed);
    const ValueId result{static_cast<std::uint32_t>(metas.size())};
    metas.insert(metas.end(), node.results.begin(), node.results.end());
    const std::string name = node.is_constant() ? "" : node.op->name();
    if (const Operator* const view = view_of_name(name, "_scatter")) {
      const ValueId base = std::get<ValueId>(node.arguments[0]);
      const ViewGeometry geometry = geometry_of_node(*view, node, 2, metas[base.number]);
      if (!geometry.overlaps_itself()) {
        written.emplace(result,
                        Written{base, std::get<ValueId>(node.arguments[1]), geometry.layout});
      }
    } else if (const Operator* const copied = view_of_name(name, "_copy")) {
      ValueId base = std::get<ValueId>(node.arguments[0]);
      const ViewGeometry geometry = geometry_of_node(*copied, node, 1, metas[base.number]);
      std::optional<ValueId> found;
      for (bool is_known = true; is_known && !found;) {
        for (const Seen& each : seen[base]) {
          found = each.layout == geometry.layout ? each.copy : found;
        }
        const auto last = written.find(base);
        is_known = last != written.end();
        if (is_known && !found && last->second.where == geometry.layout) {
          found = last->second.source;
        }
        is_known = is_known && are_apart(last->second.where, geometry.layout);
        base = is_known ? last->second.base : base;
      }
      if (found && metas[found->number] == node.results.front()) {
        instead.emplace(result, *found);
      } else {
        seen[std::get<ValueId>(node.arguments[0])].push_back({result, geometry.layout});
      }
    }
  }
  for (ValueId& output : graph.outputs) {
    renamed(output);
  }
  return eliminate_dead_code(graph);
}

}  // namespace examples::vulkan
