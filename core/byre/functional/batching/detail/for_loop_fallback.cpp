// SPDX-License-Identifier: BSL-1.0
/// What is done with operators that no rule computes of a whole batch.
#include <byre/functional/batching/detail/batched_tensor.hpp>
#include <byre/functional/batching/detail/batching.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>

namespace byre::inline v0::functional {
namespace {

[[noreturn]] void refuse_impure(const Operator& op) {
  throw DispatchError(format_text(
      "%s %s, which vmap cannot do to a whole batch. Batch the function without its views and "
      "writes: vmap(functionalize(f)).",
      op.name().c_str(),
      op.schema().effect() == Effect::view ? "makes a view" : "writes to what it is given"));
}

/// The results for each of the batch behind each other.
AnyTensor stacked(const Operator& op, const std::vector<Tensors>& of_each, std::size_t result) {
  const AnyTensor first = of_each.front()[result];
  Dims sizes = first.sizes();
  sizes.insert(sizes.begin(), 1);
  Tensors rows;
  for (const Tensors& of_one : of_each) {
    const AnyTensor& next = of_one[result];
    if (next.sizes() != first.sizes() || next.dtype() != first.dtype()) {
      throw ShapeError(format_text(
          "%s returned %s for one of a batch, and %s for another: vmap has no tensor of both.",
          op.name().c_str(), describe(first).c_str(), describe(next).c_str()));
    }
    rows.push_back(call_for_one("view_copy", {next, sizes}));
  }
  return call_for_one("cat", {std::move(rows), 0});
}

Tensors results_for(const Call& call, const Batch& batch, std::int64_t index) {
  Arguments arguments(call.arguments.begin(), call.arguments.end());
  for (Argument& argument : arguments) {
    argument.for_each_tensor([&](AnyTensor& tensor) {
      if (batch.has(tensor)) {
        tensor = call_for_one("select_copy", {batch.value_of(tensor), 0, index});
      }
    });
  }
  return dispatch(call.op, arguments);
}

}  // namespace

Tensors detail::compute_by_loop(const Call& call) {
  if (!call.op.schema().is_pure()) {
    refuse_impure(call.op);
  }
  const ExcludeKeys pass(Key::functionalize);
  const Batch batch(call.arguments);
  Tensors results;
  if (batch.size() == 0) {
    for (const TensorMeta& meta : meta_of_results(call)) {
      results.push_back(batch.batched(batch.without_elements(meta.sizes, meta.dtype)));
    }
    return results;
  }
  std::vector<Tensors> of_each;
  for (std::int64_t index = 0; index < batch.size(); ++index) {
    of_each.push_back(results_for(call, batch, index));
    if (of_each.back().size() != of_each.front().size()) {
      throw ShapeError(format_text(
          "%s returned %zu tensors for one of a batch, and %zu for another: vmap stacks as many.",
          call.op.name().c_str(), of_each.front().size(), of_each.back().size()));
    }
  }
  for (std::size_t result = 0; result < of_each.front().size(); ++result) {
    results.push_back(batch.batched(stacked(call.op, of_each, result)));
  }
  return results;
}

}  // namespace byre::inline v0::functional
