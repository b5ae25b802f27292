// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/graph/graph.hpp>
#include <byre/functional/graph/text.hpp>

#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

AnyTensor clone_of(const Tensor& tensor) {
  return from_cpu(tensor.lazy_clone());
}

void expect_matches_recording(const GraphInput& input, const AnyTensor& given, std::size_t index) {
  if (TensorMeta{given.sizes(), given.dtype()} != input.meta) {
    throw ArgumentError(
        format_text("execute: input %zu%s%s must be %s, not %s. Record the program with the sizes "
                    "and dtypes of these inputs.",
                    index, input.name.empty() ? "" : " ", input.name.c_str(),
                    detail::to_string(input.meta).c_str(), describe(given).c_str()));
  }
}

void expect_matches_recording(const GraphNode& node, const Tensors& results) {
  bool matches = results.size() == node.results.size();
  for (std::size_t index = 0; matches && index < results.size(); ++index) {
    matches = TensorMeta{results[index].sizes(), results[index].dtype()} == node.results[index];
  }
  if (!matches) {
    throw GraphError(format_text(
        "execute: the results of %s, first %s, differ from its meta rule: %s. Correct the rule.",
        node.op->name().c_str(), results.empty() ? "none" : describe(results.front()).c_str(),
        to_string(node.op->schema()).c_str()));
  }
}

/// For a tensor of the CPU, returns a packed lazy clone or copy, so that no output aliases another
/// tensor. Tensors of other backends share no data and are returned unchanged.
AnyTensor as_output(const AnyTensor& value) {
  const auto* const on_cpu = value.as<CpuTensor>();
  return on_cpu == nullptr ? value : from_cpu(packed(on_cpu->value));
}

/// One execution. Holds only the values that will be used again.
class Execution {
 public:
  Execution(const Graph& graph, const Tensors& inputs)
      : graph_(graph), remaining_uses_(graph.value_count()), values_(remaining_uses_.size()) {
    for (const GraphNode& node : graph.nodes) {
      detail::for_each_operand(node,
                               [this](ValueId operand) { ++remaining_uses_.at(operand.number); });
    }
    for (const ValueId output : graph.outputs) {
      ++remaining_uses_.at(output.number);
    }
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      expect_matches_recording(graph.inputs[index], inputs[index], index);
      store_next(inputs[index]);
    }
  }

  Tensors run() {
    for (const GraphNode& node : graph_.nodes) {
      if (node.is_constant()) {
        store_next(clone_of(node.constant));
      } else {
        compute(node);
      }
    }
    Tensors outputs;
    for (const ValueId output : graph_.outputs) {
      outputs.push_back(as_output(take(output)));
    }
    return outputs;
  }

 private:
  /// Stores the next value, or drops it if nothing uses it.
  void store_next(AnyTensor value) {
    if (remaining_uses_[next_] != 0) {
      values_[next_] = std::move(value);
    }
    ++next_;
  }

  /// Returns a value. The last use moves the value out, so that the kernel may write the value in
  /// place instead of a copy.
  AnyTensor take(ValueId id) {
    AnyTensor& value = values_.at(id.number);
    return --remaining_uses_[id.number] == 0 ? std::move(value) : value;
  }

  void compute(const GraphNode& node) {
    Arguments arguments;
    for (const BasicArgument<ValueId>& argument : node.arguments) {
      arguments.push_back(std::visit(
          [](auto&& held) { return Argument(std::forward<decltype(held)>(held)); },
          detail::with_tensors<AnyTensor>(argument, [this](ValueId id) { return take(id); })));
    }
    if (node.op->effect() == Effect::view) {
      make_contiguous(arguments.front());
    }
    Tensors results = dispatch(*node.op, arguments);
    expect_matches_recording(node, results);
    for (AnyTensor& result : results) {
      store_next(std::move(result));
    }
  }

  /// Recorded views count elements in row-major order, regardless of the operand's strides.
  static void make_contiguous(Argument& viewed) {
    const auto* const on_cpu = viewed.tensor().as<CpuTensor>();
    if (on_cpu != nullptr &&
        (!on_cpu->value.is_contiguous() || on_cpu->value.storage_offset() != 0)) {
      viewed = from_cpu(on_cpu->value.clone());
    }
  }

  const Graph& graph_;
  std::vector<std::uint32_t> remaining_uses_;  // indexed by value
  Tensors values_;
  std::size_t next_ = 0;
};

}  // namespace

Key detail::backend_of(const Tensors& tensors, const char* operation) {
  KeySet found = Key::cpu;
  for (const AnyTensor& tensor : tensors) {
    const KeySet keys = tensor.keys();
    const bool computes = is_backend(keys.highest()) && !keys.has(Key::graph);
    if (!computes || (found != Key::cpu && keys != Key::cpu && keys != found)) {
      throw DeviceError(
          format_text("%s: cannot compute with tensors of %s and of %s. Pass tensors of one "
                      "backend, and of the CPU.",
                      operation, to_string(found).c_str(), to_string(keys).c_str()));
    }
    found = keys == Key::cpu ? found : keys;
  }
  return found.highest();
}

Tensors execute(const Graph& graph, const Tensors& inputs) try {
  detail::expect_tensors(inputs, "execute", "the inputs");
  if (inputs.size() != graph.inputs.size()) {
    throw ArgumentError(format_text(
        "execute: the graph has %zu inputs, %zu were given. Pass one tensor for each input.",
        graph.inputs.size(), inputs.size()));
  }
  detail::expect_well_formed(graph, "execute");
  const Key backend = detail::backend_of(inputs, "execute");
  const ExcludeKeys only_backend(thread_keys().included.without(backend) | Key::functionalize);
  const IncludeKeys on_backend(backend);
  return Execution(graph, inputs).run();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("execute");
}

}  // namespace byre::inline BYRE_ABI::functional
