// SPDX-License-Identifier: BSL-1.0
#include "vulkan/fusion/plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "vulkan/fusion/emitter.hpp"

namespace examples::vulkan {
namespace {

/// An expression that several kernels have on the way is computed once, if it has more operators than this.
constexpr std::size_t most_recomputed = 2;
/// So many operators are a kernel, when a larger expression has to be parted.
constexpr std::size_t part_operators = fused_instructions / 3;

class Planner {
 public:
  explicit Planner(const Graph& graph)
      : index_(graph), kept_(index_.value_count()), unfused_(graph.nodes.size()) {
    for (std::size_t input = 0; input < graph.inputs.size(); ++input) {
      kept_[input] = true;
    }
    for (const ValueId output : graph.outputs) {
      kept_[output.number] = true;
    }
    for (const GraphNode& node : graph.nodes) {
      fusions_.push_back(fusion_of(index_, node));
    }
  }

  /// Each attempt that fails keeps one value more, or fuses one node less.
  std::vector<Step> run() {
    std::optional<std::vector<Step>> steps;
    while (!steps) {
      steps = attempt();
    }
    return std::move(*steps);
  }

 private:
  const Graph& graph() const { return index_.graph(); }
  Fusion fusion(std::size_t node) const {
    const GraphNode& of = graph().nodes[node];
    const bool is_kept_bool = kept_[index_.first_result(node).number] &&
                              of.results[0].dtype == byre::DType::boolean;  // kernels write f32
    return unfused_[node] || is_kept_bool ? Fusion::none : fusions_[node];
  }
  std::size_t number_of(ValueId value) const {
    return static_cast<std::size_t>(index_.maker(value) - graph().nodes.data());
  }

  template <class Function>
  void for_each_needed(std::size_t node, const Function& function) const {
    if (fusion(node) == Fusion::gather) {
      function(source_of_gather(index_, graph().nodes[node]));
    } else {
      byre::functional::detail::for_each_operand(graph().nodes[node], function);
    }
  }

  std::optional<std::vector<Step>> attempt() {
    keep_what_has_to_be();
    find_levels();
    std::vector<Step> steps;
    std::map<ValueId, std::size_t> kernels_of;  // that have a value on the way
    std::vector<bool> there = kept_;            // once the levels so far are done
    for (std::size_t node = 0; node < graph().nodes.size(); ++node) {
      set_results(there, node, false);
    }
    for (const std::vector<std::size_t>& nodes : levels_) {
      for (const std::size_t node : nodes) {
        if (fusion(node) == Fusion::none) {
          steps.emplace_back(node);
        }
      }
      if (!add_kernels(nodes, there, steps, kernels_of)) {
        return std::nullopt;
      }
      for (const std::size_t node : nodes) {
        set_results(there, node, true);
      }
    }
    return keep_what_is_recomputed(kernels_of) ? std::nullopt : std::optional(std::move(steps));
  }

  /// To keep one may be to fuse another no more, whose operands are to be kept then.
  void keep_what_has_to_be() {
    bool changes = true;
    const auto keep = [this, &changes](ValueId value) {
      changes = changes || !kept_[value.number];
      kept_[value.number] = true;
    };
    while (changes) {
      changes = false;
      for (std::size_t node = 0; node < graph().nodes.size(); ++node) {
        const Fusion how = fusion(node);
        if (how == Fusion::none) {
          for (std::uint32_t result = 0; result < graph().nodes[node].results.size(); ++result) {
            keep({index_.first_result(node).number + result});
          }
        }
        if (how == Fusion::none || how == Fusion::gather) {
          for_each_needed(node, keep);
        }
      }
    }
  }

  /// A value that is kept is made one level above all that are kept below it.
  void find_levels() {
    std::vector<std::size_t> level_of(index_.value_count());
    operators_.assign(index_.value_count(), 0);
    levels_.clear();
    for (std::size_t node = 0; node < graph().nodes.size(); ++node) {
      std::size_t level = 0;
      byre::functional::detail::for_each_operand(graph().nodes[node], [&](ValueId operand) {
        level = std::max(level, level_of[operand.number]);
      });
      const ValueId first = index_.first_result(node);
      const bool is_made = kept_[first.number] || fusion(node) == Fusion::none;
      if (is_made) {
        levels_.resize(std::max(levels_.size(), ++level));
        levels_[level - 1].push_back(node);
      }
      for (std::uint32_t result = 0; result < graph().nodes[node].results.size(); ++result) {
        level_of[first.number + result] = level;
        operators_[first.number + result] = is_made ? 0 : operators_below(node);
      }
    }
  }

  std::size_t operators_below(std::size_t node) const {
    constexpr std::size_t many = 1000;  // and no more, lest the sum overflow
    std::size_t count = 1;
    for_each_needed(node, [&](ValueId needed) { count += operators_[needed.number]; });
    return std::min(count, many);
  }

  void set_results(std::vector<bool>& values, std::size_t node, bool to) const {
    for (std::uint32_t result = 0; result < graph().nodes[node].results.size(); ++result) {
      values[index_.first_result(node).number + result] = to;
    }
  }

  /// Of the nodes of one level.
  bool add_kernels(const std::vector<std::size_t>& nodes, const std::vector<bool>& there,
                   std::vector<Step>& steps, std::map<ValueId, std::size_t>& kernels_of) {
    std::map<std::vector<std::int64_t>, std::vector<ValueId>> roots;  // by their sizes
    for (const std::size_t node : nodes) {
      if (fusion(node) != Fusion::none) {
        const byre::Dims& sizes = graph().nodes[node].results[0].sizes;
        roots[{sizes.begin(), sizes.end()}].push_back(index_.first_result(node));
      }
    }
    for (const auto& [sizes, values] : roots) {
      std::optional<Emitter> emitter;
      const auto finish = [&] {
        for (const ValueId value : emitter->inlined()) {
          ++kernels_of[value];
        }
        steps.emplace_back(emitter->finish());
      };
      for (const ValueId value : values) {
        if (emitter) {
          if (Emitter larger = *emitter; larger.emit_output(value)) {
            emitter.emplace(std::move(larger));
            continue;
          }
          finish();
        }
        if (!begin_kernel(emitter, value, there, byre::Dims(sizes.begin(), sizes.end()))) {
          part(value);
          return false;
        }
      }
      finish();
    }
    return true;
  }

  bool begin_kernel(std::optional<Emitter>& emitter, ValueId first_output,
                    const std::vector<bool>& there, const byre::Dims& sizes) const {
    if (have_few_planes(sizes)) {
      emitter.emplace(index_, there, sizes, true);
      if (emitter->emit_output(first_output)) {
        return true;
      }
    }
    emitter.emplace(index_, there, sizes, false);
    return emitter->emit_output(first_output);
  }

  /// Of an expression that does not fit a kernel a part is a kernel of its own: down its largest branch, the first
  /// that should fit one.
  void part(ValueId value) {
    ValueId at = value;
    while (at == value || operators_[at.number] > part_operators) {
      std::optional<ValueId> largest;
      byre::functional::detail::for_each_operand(*index_.maker(at), [&](ValueId operand) {
        if (!kept_[operand.number] &&
            (!largest || operators_[operand.number] > operators_[largest->number])) {
          largest = operand;
        }
      });
      if (!largest) {
        break;
      }
      at = *largest;
    }
    if (at == value) {
      unfused_[number_of(value)] = true;
    } else {
      kept_[at.number] = true;
    }
  }

  /// Of a chain that several kernels compute the end is kept, and the rest computed once for that. Whether there was
  /// any.
  bool keep_what_is_recomputed(const std::map<ValueId, std::size_t>& kernels_of) {
    std::vector<bool> is_recomputed(index_.value_count());
    for (const auto& [value, kernels] : kernels_of) {
      is_recomputed[value.number] = kernels > 1 && !kept_[value.number] &&
                                    index_.meta(value).dtype == byre::DType::f32 &&
                                    operators_[value.number] > most_recomputed;
    }
    bool any = false;
    for (std::size_t node = 0; node < graph().nodes.size(); ++node) {
      if (!is_recomputed[index_.first_result(node).number]) {
        byre::functional::detail::for_each_operand(graph().nodes[node], [&](ValueId operand) {
          any = any || is_recomputed[operand.number];
          kept_[operand.number] = kept_[operand.number] || is_recomputed[operand.number];
        });
      }
    }
    return any;
  }

  const GraphIndex index_;
  std::vector<Fusion> fusions_;         // of each node, if nothing keeps it from that
  std::vector<bool> kept_;              // values that are in memory at some time
  std::vector<bool> unfused_;           // nodes that are computed by their operators
  std::vector<std::size_t> operators_;  // of the expression of a value, up to what is kept
  std::vector<std::vector<std::size_t>> levels_;  // of nodes that are no part of a kernel's way
};

}  // namespace

std::vector<Step> plan_steps(const Graph& graph) {
  return Planner(graph).run();
}

}  // namespace examples::vulkan
