// SPDX-License-Identifier: BSL-1.0
/// Kernels for the key batched. Rules (functions of a BatchedCall) compute an operator for a whole
/// batch in one call. Operators without a rule are called once per member.
#include <byre/functional/batching/detail/batched_tensor.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/guards.hpp>

#include <algorithm>
#include <numeric>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// A call on a batch, and the sizes and dtype that its result has for one member.
struct BatchedCall {
  const Operator& op;
  Arguments arguments;  ///< as passed by the caller
  const Batch& batch;
  const TensorMeta& of_one;

  const AnyTensor& self() const { return arguments.front().tensor(); }
  std::size_t ndim_of_one() const noexcept { return of_one.sizes.size(); }
};

/// Returns the result's value, with the batch in front.
using Rule = AnyTensor (*)(BatchedCall);

/// Applies a rule. meta_of_results() first rejects operands that the operator rejects for one
/// member. Results without elements bypass the rule, because operators check the shapes of empty
/// tensors differently.
Tensors apply(Rule rule, const Call& call) {
  const ExcludeKeys pass(Key::functionalize);
  const Batch batch(call.arguments);
  const TensorMeta of_one = meta_of_results(call).front();
  const Dims sizes = batch.with_size(of_one.sizes);
  if (std::count(sizes.begin(), sizes.end(), 0) != 0) {
    return {batch.batched(batch.without_elements(of_one.sizes, of_one.dtype))};
  }
  return {batch.batched(
      rule({call.op, Arguments(call.arguments.begin(), call.arguments.end()), batch, of_one}))};
}

/// Aligns the operands, so that their members broadcast as if the operands had no batch.
AnyTensor pointwise(BatchedCall call) {
  for (Argument& argument : call.arguments) {
    argument.for_each_tensor(
        [&](AnyTensor& tensor) { tensor = call.batch.aligned(tensor, call.ndim_of_one()); });
  }
  return call_for_one(call.op, std::move(call.arguments));
}

/// Converts `axis` of a member to an axis of the batch's value.
std::int64_t shifted_past_batch(std::int64_t axis, std::size_t ndim, const Operator& op) {
  return 1 + static_cast<std::int64_t>(byre::detail::wrap_axis(axis, ndim, op.name().c_str()));
}
Dims shifted_past_batch(Dims axes, std::size_t ndim, const Operator& op) {
  for (std::int64_t& axis : axes) {
    axis = shifted_past_batch(axis, ndim, op);
  }
  return axes;
}

/// Calls the operator on whole batches, with all axes increased by one.
AnyTensor axes_shifted(BatchedCall call) {
  std::size_t ndim = 0;
  for (Argument& argument : call.arguments) {
    argument.for_each_tensor([&](AnyTensor& tensor) {
      ndim = std::max(ndim, tensor.ndim());
      tensor = call.batch.value_of(tensor);
    });
  }
  for (std::size_t index = 0; index < call.arguments.size(); ++index) {
    Argument& argument = call.arguments[index];
    switch (call.op.schema().parameters[index].type) {
      case Type::axis:
        argument = shifted_past_batch(argument.integer(), ndim, call.op);
        break;
      case Type::axes:
        argument = ndim == 0 ? Dims() : shifted_past_batch(argument.dims(), ndim, call.op);
        break;
      default:
        break;
    }
  }
  return call_for_one(call.op, std::move(call.arguments));
}

AnyTensor permuted(BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  Dims axes = shifted_past_batch(call.arguments[1].dims(), call.self().ndim(), call.op);
  axes.insert(axes.begin(), 0);
  return call_for_one(call.op, {call.batch.value_of(call.self()), axes});
}

AnyTensor reshaped(BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  return call_for_one(call.op,
                      {call.batch.value_of(call.self()), call.batch.with_size(call.of_one.sizes)});
}

AnyTensor expanded(BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  return call_for_one(call.op, {call.batch.aligned(call.self(), call.ndim_of_one()),
                                call.batch.with_size(call.of_one.sizes)});
}

/// For as_strided_copy and as_strided_scatter, whose last arguments are sizes, strides and offset.
AnyTensor strided(BatchedCall call) {
  const std::int64_t numel_of_one = call.self().numel();
  Dims sizes = call.batch.with_size(call.arguments.end()[-3].dims());
  Dims strides = call.arguments.end()[-2].dims();
  strides.insert(strides.begin(), numel_of_one);
  call.arguments.end()[-3] = std::move(sizes);
  call.arguments.end()[-2] = std::move(strides);
  return axes_shifted(std::move(call));
}

AnyTensor summed_over_all(
    BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  Dims axes(call.self().ndim());
  std::iota(axes.begin(), axes.end(), 1);
  return call_for_one("sum.axes", {call.batch.value_of(call.self()), axes, false});
}

/// Turns vectors into matrices first: otherwise matmul would treat the batch dimension of a vector
/// as a matrix dimension.
AnyTensor multiplied(BatchedCall call) {
  const auto as_matrix = [&](const AnyTensor& factor, bool is_column) {
    Dims sizes = factor.sizes();
    if (sizes.size() != 1) {
      return factor;
    }
    sizes.insert(is_column ? sizes.end() : sizes.begin(), 1);
    if (!call.batch.has(factor)) {
      return call_for_one("view_copy", {factor, sizes});
    }
    return call.batch.batched(
        call_for_one("view_copy", {call.batch.value_of(factor), call.batch.with_size(sizes)}));
  };
  const AnyTensor a = as_matrix(call.arguments[0].tensor(), false);
  const AnyTensor b = as_matrix(call.arguments[1].tensor(), true);
  const std::size_t ndim = std::max(a.ndim(), b.ndim());
  const AnyTensor product =
      call_for_one(call.op, {call.batch.aligned(a, ndim), call.batch.aligned(b, ndim)});
  return call_for_one("view_copy", {product, call.batch.with_size(call.of_one.sizes)});
}

void define_rule(Rule rule, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    extend(name).kernel(Key::batched, [rule](const Call& call) { return apply(rule, call); });
  }
}

// ---- Operators without a rule

[[noreturn]] void refuse_impure(const Operator& op) {
  throw DispatchError(
      format_text("%s %s, vmap requires pure operators. Use vmap(functionalize(f)), which removes "
                  "views and writes.",
                  op.name().c_str(),
                  op.schema().effect() == Effect::view ? "makes a view" : "writes its arguments"));
}

/// Stacks result number `result` of all members.
AnyTensor stacked(const Operator& op, const std::vector<Tensors>& of_each, std::size_t result) {
  const AnyTensor first = of_each.front()[result];
  Dims sizes = first.sizes();
  sizes.insert(sizes.begin(), 1);
  Tensors rows;
  for (const Tensors& of_one : of_each) {
    const AnyTensor& next = of_one[result];
    if (next.sizes() != first.sizes() || next.dtype() != first.dtype()) {
      throw ShapeError(format_text(
          "%s returned %s and %s for members of one batch. Return equal sizes and dtypes.",
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

Tensors compute_by_loop(const Call& call) {
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
          "%s returned %zu and %zu tensors for members of one batch. Return equally many.",
          call.op.name().c_str(), of_each.front().size(), of_each.back().size()));
    }
  }
  for (std::size_t result = 0; result < of_each.front().size(); ++result) {
    results.push_back(batch.batched(stacked(call.op, of_each, result)));
  }
  return results;
}

Tensors compute_by_tag(const Call& call) {
  return call.op.has(Tag::pointwise)    ? apply(pointwise, call)
         : call.op.has(Tag::axis_shift) ? apply(axes_shifted, call)
                                        : compute_by_loop(call);
}

}  // namespace

void detail::define_batching() {
  define_rule(permuted, {"permute_copy"});
  define_rule(reshaped, {"view_copy", "reshape"});
  define_rule(expanded, {"expand_copy"});
  define_rule(strided, {"as_strided_copy", "as_strided_scatter"});
  define_rule(summed_over_all, {"sum"});
  define_rule(multiplied, {"matmul"});
  set_fallback(Key::batched, compute_by_tag);
}

}  // namespace byre::inline BYRE_ABI::functional
