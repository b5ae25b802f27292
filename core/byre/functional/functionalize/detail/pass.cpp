// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/detail/pass.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::functional {
namespace {

using byre::detail::Overlap;
using detail::target_of;

bool broadcasts_to(const Dims& sizes, const Dims& operand) noexcept {
  const std::size_t added = sizes.size() - std::min(sizes.size(), operand.size());
  bool fits = operand.size() <= sizes.size();
  for (std::size_t axis = 0; fits && axis < operand.size(); ++axis) {
    fits = operand[axis] == 1 || operand[axis] == sizes[added + axis];
  }
  return fits;
}

/// Returns the bytes of the base that elements with this layout occupy.
byre::detail::Extent extent_of(DType dtype, const Layout& layout) {
  const auto itemsize = static_cast<std::int64_t>(byre::itemsize(dtype));
  return {static_cast<std::uint64_t>(layout.offset * itemsize), layout, itemsize};
}

/// Calls an operator below the pass, on the current values of the arguments.
Tensors redispatch(const Operator& op, std::span<const Argument> arguments) {
  Arguments values(arguments.begin(), arguments.end());
  for (Argument& value : values) {
    value.for_each_tensor([](AnyTensor& tensor) {
      if (auto* const held = tensor.as<FunctionalTensor>()) {
        tensor = held->sync();
      } else {
        detail::expect_captured_shares_no_input(tensor);
      }
    });
  }
  const ExcludeKeys pass(Key::functionalize);
  return dispatch(op, values);
}

Tensors to_functional(Tensors values) {
  for (AnyTensor& value : values) {
    value = functional::to_functional(std::move(value));
  }
  return values;
}

/// Returns the value that a write stores in `target`: `result`, converted to the target's dtype.
AnyTensor converted_to_target(const FunctionalTensor& target, AnyTensor result,
                              const char* operation) {
  byre::detail::expect_category_holds(target.dtype(), result.dtype(), operation);
  detail::expect_takes_batch(target, result.batch_level(), operation);
  if (result.sizes() != target.sizes()) {
    throw ShapeError(
        format_text("%s: the result has sizes %s, the written tensor %s. Use the operation that "
                    "returns a new tensor.",
                    operation, byre::to_string(result.sizes()).c_str(),
                    byre::to_string(target.sizes()).c_str()));
  }
  return result.dtype() == target.dtype()
             ? result
             : detail::redispatch_for_one("to", {std::move(result), target.dtype()});
}

std::vector<ViewPath> paths_through(const Operator& view, FunctionalTensor& self,
                                    const Call& call) {
  if (view.view() == nullptr) {
    throw DispatchError(format_text(
        "%s: its schema declares a view, but it has no view rule. Call extend(\"%s\").view(rule).",
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

/// Computes an operator that writes by its functional variant. The variant's last results are the
/// written values.
Tensors run_functionalized(const Call& call) {
  if (call.op.effect() == Effect::none) {
    return to_functional(redispatch(call.op, call.arguments));
  }
  if (call.op.effect() == Effect::view) {
    return make_views(call);
  }
  if (const Operator* const view = call.op.view_variant()) {
    return view_in_place(*view, call);
  }
  const char* const name = call.op.name().c_str();
  const std::vector<std::size_t>& written = call.op.written();
  std::vector<FunctionalTensor::PreparedWrite> writes;
  for (const std::size_t index : written) {
    FunctionalTensor& target = target_of(call, index);
    writes.push_back(target.prepare_write(name, written.size()));
    detail::expect_no_partial_overlap(target, index, call);
  }
  const Operator& variant = detail::functional_variant_of(call.op);
  Tensors results = redispatch(variant, call.arguments.first(variant.schema().parameters.size()));
  const std::size_t new_count = results.size() - written.size();
  for (std::size_t index = 0; index < written.size(); ++index) {
    AnyTensor& result = results[new_count + index];
    result = converted_to_target(target_of(call, written[index]), std::move(result), name);
  }
  for (std::size_t index = 0; index < written.size(); ++index) {
    writes[index].commit(std::move(results[new_count + index]));
  }
  results.resize(new_count);
  return to_functional(std::move(results));
}

}  // namespace

AnyTensor detail::functional(const AnyTensor& tensor) {
  if (tensor.as<FunctionalTensor>() != nullptr) {
    return tensor;
  }
  expect_captured_shares_no_input(tensor);
  // Like an input, the captured tensor becomes a view of a base that is its whole storage.
  const Tensors captured{tensor};
  const InputAliasing aliasing(captured);
  const auto alias = make_counted<Alias>(aliasing.value(0, captured), functionalize_options(),
                                         tensor.batch_level());
  alias->set_captured(tensor);
  return make_counted<FunctionalTensor>(alias, ViewPath(aliasing.meta(0), aliasing.geometry(0)));
}

FunctionalTensor& detail::target_of(const Call& call, std::size_t index) {
  AnyTensor& tensor = call.arguments[index].tensor();
  if (tensor.as<FunctionalTensor>() == nullptr) {
    tensor = functional(tensor);
  }
  return *tensor.as<FunctionalTensor>();
}

void detail::expect_not_captured(const Call& call, std::size_t index) {
  const AnyTensor& tensor = call.arguments[index].tensor();
  if (tensor.as<FunctionalTensor>() == nullptr) {
    throw FunctionalizeError(
        format_text("%s: cannot change a captured tensor, %s: the change would be lost. Make it an "
                    "input, or change an alias() of it.",
                    call.op.name().c_str(), describe(tensor).c_str()));
  }
}

void detail::refuse_batch(const FunctionalTensor& written, const char* operation) {
  throw DispatchError(format_text(
      "%s: cannot write one value per batch member to %s%s, a tensor without a batch: it is "
      "captured, or vmap() got no axis for it. Give it a batch axis, or return the result.",
      operation, byre::name_of(written.dtype()), byre::to_string(written.sizes()).c_str()));
}

void detail::expect_no_partial_overlap(const FunctionalTensor& target, std::size_t index,
                                       const Call& call) {
  const auto alias = target.alias_if_any();
  const ViewGeometry& to = target.path().geometry();
  const Dims& sizes = to.layout.sizes;
  const byre::detail::Extent written = extent_of(to.dtype, to.layout);
  for (std::size_t other = 0; other < call.arguments.size(); ++other) {
    const bool is_written_before =
        other < index && call.op.schema().parameters[other].alias.is_written;
    call.arguments[other].for_each_tensor([&](const AnyTensor& tensor) {
      const auto* const read = tensor.as<FunctionalTensor>();
      if (other == index || read == nullptr ||
          (read != &target && (alias == nullptr || read->alias_if_any() != alias))) {
        return;
      }
      const ViewGeometry& from = read->path().geometry();
      // An operand that does not broadcast is read completely before anything is written.
      if (read != &target && broadcasts_to(sizes, from.layout.sizes) &&
          byre::detail::overlap_of(written,
                                   extent_of(from.dtype, views::expand(from.layout, sizes))) ==
              Overlap::partial) {
        throw ShapeError(format_text(
            "%s: an operand of sizes %s and strides %s partially overlaps the written tensor, of "
            "sizes %s and strides %s. Call clone() on the operand first.",
            call.op.name().c_str(), byre::to_string(from.layout.sizes).c_str(),
            byre::to_string(from.layout.strides).c_str(), byre::to_string(sizes).c_str(),
            byre::to_string(to.layout.strides).c_str()));
      }
      if (is_written_before &&
          (read == &target || byre::detail::overlap_of(
                                  written, extent_of(from.dtype, from.layout)) != Overlap::none)) {
        throw ShapeError(
            format_text("%s: arguments %zu and %zu are both written and overlap. Pass tensors "
                        "without common elements.",
                        call.op.name().c_str(), other + 1, index + 1));
      }
    });
  }
}

AnyTensor detail::redispatch_for_one(const char* name, Arguments values) {
  const ExcludeKeys pass(Key::functionalize);
  return call_for_one(name, std::move(values));
}

AnyTensor detail::redispatch_on_backend_of(const FunctionalTensor& target, const char* name,
                                           Arguments values) {
  const KeySet keys = target.backend();
  const IncludeKeys backend(is_backend(keys.highest()) ? keys : KeySet());
  return redispatch_for_one(name, std::move(values));
}

void detail::define_functionalize_pass() {
  set_fallback(Key::functionalize, run_functionalized);
  define_overwriting_operators();
}

}  // namespace byre::inline BYRE_ABI::functional
