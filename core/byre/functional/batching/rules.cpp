// SPDX-License-Identifier: BSL-1.0
/// How operators are computed of a whole batch at once, by themselves.
#include <byre/functional/batching/batched_tensor.hpp>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/operators/builtin.hpp>

#include <algorithm>
#include <numeric>

namespace byre::inline v0::functional {
namespace {

/// A call, and what it would return of one of the batch.
struct BatchedCall {
  const Operator& op;
  Arguments arguments;  ///< as they were given
  const Batch& batch;
  const TensorMeta& of_one;

  const AnyTensor& self() const { return arguments.front().tensor(); }
  std::size_t ndim_of_one() const noexcept { return of_one.sizes.size(); }
};

/// Answers the value of the result, with the batch in front.
using Rule = AnyTensor (*)(BatchedCall);

/// What one of the batch would be refused for is refused so, and results without elements are made
/// without the rule: shapes differ in what they allow then.
Kernel kernel_of(Rule rule) {
  return [rule](const Call& call) -> Tensors {
    const ExcludeKeys pass(Key::functionalize);
    const Batch batch(call.arguments);
    const TensorMeta of_one = meta_of_results(call).front();
    const Dims sizes = batch.with_size(of_one.sizes);
    if (std::count(sizes.begin(), sizes.end(), 0) != 0) {
      return {batch.batched(batch.without_elements(of_one.sizes, of_one.dtype))};
    }
    return {batch.batched(
        rule({call.op, Arguments(call.arguments.begin(), call.arguments.end()), batch, of_one}))};
  };
}

/// Each of one element broadcasts to the result's dimensions.
AnyTensor pointwise(BatchedCall call) {
  for (Argument& argument : call.arguments) {
    argument.for_each_tensor(
        [&](AnyTensor& tensor) { tensor = call.batch.aligned(tensor, call.ndim_of_one()); });
  }
  return call_for_one(call.op, std::move(call.arguments));
}

bool is_axis(const Parameter& parameter) {
  return parameter.name == "axis" || parameter.name == "first" || parameter.name == "second";
}

/// `axis` of one of the batch, in its value.
std::int64_t behind_batch(std::int64_t axis, std::size_t ndim, const Operator& op) {
  return 1 + static_cast<std::int64_t>(byre::detail::wrap_axis(axis, ndim, op.name().c_str()));
}

/// All tensors with the batch in front, and all axes one further.
AnyTensor one_axis_further(BatchedCall call) {
  std::size_t ndim = 0;
  for (Argument& argument : call.arguments) {
    argument.for_each_tensor([&](AnyTensor& tensor) {
      ndim = std::max(ndim, tensor.ndim());
      tensor = call.batch.value_of(tensor);
    });
  }
  for (std::size_t index = 0; index < call.arguments.size(); ++index) {
    if (is_axis(call.op.schema().parameters[index])) {
      Argument& axis = call.arguments[index];
      axis = behind_batch(axis.integer(), ndim, call.op);
    }
  }
  return call_for_one(call.op, std::move(call.arguments));
}

AnyTensor permuted(BatchedCall call) {
  Dims axes{0};
  for (const std::int64_t axis : call.arguments[1].dims()) {
    axes.push_back(behind_batch(axis, call.self().ndim(), call.op));
  }
  return call_for_one(call.op, {call.batch.value_of(call.self()), axes});
}

AnyTensor of_other_sizes(BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  return call_for_one(call.op,
                      {call.batch.value_of(call.self()), call.batch.with_size(call.of_one.sizes)});
}

AnyTensor expanded(BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  return call_for_one(call.op, {call.batch.aligned(call.self(), call.ndim_of_one()),
                                call.batch.with_size(call.of_one.sizes)});
}

/// as_strided_copy and as_strided_scatter, whose last arguments are sizes, strides and offset.
AnyTensor strided(BatchedCall call) {
  const std::int64_t numel_of_one = call.self().numel();
  Dims sizes = call.batch.with_size(call.arguments.end()[-3].dims());
  Dims strides = call.arguments.end()[-2].dims();
  strides.insert(strides.begin(), numel_of_one);
  call.arguments.end()[-3] = std::move(sizes);
  call.arguments.end()[-2] = std::move(strides);
  return one_axis_further(std::move(call));
}

AnyTensor summed_over_all(
    BatchedCall call) {  // NOLINT(performance-unnecessary-value-param): a Rule
  Dims axes(call.self().ndim());
  std::iota(axes.begin(), axes.end(), 1);
  return call_for_one("sum.axes", {call.batch.value_of(call.self()), axes, false});
}

AnyTensor summed_over_some(BatchedCall call) {
  const std::size_t ndim = call.self().ndim();
  Dims axes;
  for (const std::int64_t axis : ndim == 0 ? Dims() : call.arguments[1].dims()) {
    axes.push_back(behind_batch(axis, ndim, call.op));
  }
  return call_for_one(call.op, {call.batch.value_of(call.self()), axes, call.arguments[2].flag()});
}

/// A row or a column is made a matrix, so that the batch is none of its dimensions.
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
    detail::extend_builtin(name).kernel(Key::batched, kernel_of(rule));
  }
}

}  // namespace

void detail::define_batching() {
  define_rule(pointwise,
              {"add", "add.scalar", "sub", "sub.scalar", "mul", "mul.scalar", "div", "div.scalar",
               "eq", "eq.scalar", "ge", "ge.scalar", "neg", "relu", "exp", "where"});
  define_rule(one_axis_further,
              {"clone", "contiguous", "to", "view_copy.dtype", "select_copy", "slice_copy",
               "diagonal_copy", "select_scatter", "slice_scatter", "diagonal_scatter", "cat"});
  define_rule(permuted, {"permute_copy"});
  define_rule(of_other_sizes, {"view_copy", "reshape"});
  define_rule(expanded, {"expand_copy"});
  define_rule(strided, {"as_strided_copy", "as_strided_scatter"});
  define_rule(summed_over_all, {"sum"});
  define_rule(summed_over_some, {"sum.axes"});
  define_rule(multiplied, {"matmul"});
  set_builtin_fallback(Key::batched, compute_one_by_one);
}

}  // namespace byre::inline v0::functional
