// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/functional/functionalize/detail/pass.hpp>
#include <byre/functional/functionalize/detail/pass_parts.hpp>
#include <byre/tensor/detail/operands.hpp>

namespace byre::inline v0::functional {
namespace {

using detail::expect_no_partial_overlap;
using detail::redispatch_for_one;
using detail::target_of;

Arguments values_of(std::span<const Argument> arguments) {
  Arguments values(arguments.begin(), arguments.end());
  for (Argument& value : values) {
    value.for_each_tensor([](AnyTensor& tensor) {
      detail::expect_captured_apart(tensor);
      tensor = from_functional(tensor);
    });
  }
  return values;
}

/// Calls below the pass, where all tensors are values.
Tensors redispatch(const Operator& op, std::span<Argument> values) {
  const ExcludeKeys pass(Key::functionalize);
  return dispatch(op, values);
}

void expect_apart_from_operands(FunctionalTensor& written, std::size_t index, const Call& call) {
  for (std::size_t other = 0; other < call.arguments.size(); ++other) {
    if (other != index) {
      call.arguments[other].for_each_tensor([&](const AnyTensor& tensor) {
        expect_no_partial_overlap(written, tensor, call.op.name().c_str());
      });
    }
  }
}

/// What is written to `target` where `result` was computed: converted to the dtype it keeps.
AnyTensor conforming(const FunctionalTensor& target, AnyTensor result, const char* operation) {
  byre::detail::expect_category_holds(target.dtype(), result.dtype(), operation);
  detail::expect_takes_batch(target, result, operation);
  if (result.sizes() != target.sizes()) {
    throw ShapeError(format_text(
        "%s: the result has sizes %s, and the tensor that is written keeps its sizes, %s. Use the "
        "operation that returns a new tensor.",
        operation, byre::to_string(result.sizes()).c_str(),
        byre::to_string(target.sizes()).c_str()));
  }
  return result.dtype() == target.dtype()
             ? result
             : redispatch_for_one("to", {std::move(result), target.dtype()});
}

Tensors call_pure(const Call& call) {
  Arguments values = values_of(call.arguments);
  Tensors results = redispatch(call.op, values);
  for (AnyTensor& result : results) {
    result = to_functional(std::move(result));
  }
  return results;
}

std::vector<ViewPath> paths_through(const Operator& view, FunctionalTensor& self,
                                    const Call& call) {
  if (view.view() == nullptr) {
    throw DispatchError(
        format_text("%s: the schema is a view's, and what it sees is not registered: "
                    "extend(\"%s\").view(rule) says it.",
                    view.name().c_str(), view.name().c_str()));
  }
  return self.path().through(view, call.arguments.subspan(1), self.alias()->uses_strides_alone());
}

Tensors make_views(const Call& call) {
  FunctionalTensor& self = target_of(call, 0);
  Tensors views;
  for (ViewPath& path : paths_through(call.op, self, call)) {
    views.push_back(make_counted<FunctionalTensor>(self.alias(), std::move(path)));
  }
  return views;
}

Tensors view_in_place(const Operator& view, const Call& call) {
  detail::expect_not_captured(call, 0);
  FunctionalTensor& self = target_of(call, 0);
  self.move_to(std::move(paths_through(view, self, call).front()));
  return {};
}

/// Two tensors that are written have no element in common: the functional variant would write one
/// after the other, and the operator itself in any order.
void expect_written_apart(const Call& call, std::span<const std::size_t> written) {
  for (std::size_t later = 1; later < written.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      FunctionalTensor& one = target_of(call, written[earlier]);
      if (detail::overlap_in_alias(one, target_of(call, written[later])) !=
          byre::detail::Overlap::none) {
        throw ShapeError(
            format_text("%s: arguments %zu and %zu, both of which are written, have elements in "
                        "common. Give tensors that have none.",
                        call.op.name().c_str(), written[earlier] + 1, written[later] + 1));
      }
    }
  }
}

/// By the functional variant, whose last results are what is written.
Tensors write_by_functional_variant(const Call& call) {
  const char* const name = call.op.name().c_str();
  const std::vector<std::size_t>& written = call.op.written();
  std::vector<FunctionalTensor::PreparedWrite> writes;
  for (const std::size_t index : written) {
    FunctionalTensor& target = target_of(call, index);
    writes.push_back(target.prepare_write(name, written.size()));
    expect_apart_from_operands(target, index, call);
  }
  expect_written_apart(call, written);
  const Operator& variant = detail::functional_variant_of(call.op);
  Arguments values = values_of(call.arguments.first(variant.schema().parameters.size()));
  Tensors results = redispatch(variant, values);
  const std::size_t made = results.size() - written.size();
  for (std::size_t nth = 0; nth < written.size(); ++nth) {
    AnyTensor& result = results[made + nth];
    result = conforming(target_of(call, written[nth]), std::move(result), name);
  }
  for (std::size_t nth = 0; nth < written.size(); ++nth) {
    writes[nth].commit(std::move(results[made + nth]));
  }
  results.resize(made);
  for (AnyTensor& result : results) {
    result = to_functional(std::move(result));
  }
  return results;
}

Tensors functionalized(const Call& call) {
  switch (call.op.effect()) {
    case Effect::none:
      return call_pure(call);
    case Effect::view:
      return make_views(call);
    case Effect::write:
      break;
  }
  const Operator* const view = call.op.view_variant();
  return view != nullptr ? view_in_place(*view, call) : write_by_functional_variant(call);
}

}  // namespace

void detail::define_functionalize_pass() {
  set_builtin_fallback(Key::functionalize, functionalized);
  define_overwriting_operators();
}

}  // namespace byre::inline v0::functional
