// SPDX-License-Identifier: BSL-1.0
/// Kernels of the pass for operators that overwrite a tensor without reading it, and for operators
/// that change which elements a tensor has. Their functional variants are not called.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/detail/functional_variant.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/detail/pass.hpp>
#include <byre/functional/operators/detail/operators.hpp>
#include <byre/tensor/detail/operands.hpp>

namespace byre::inline BYRE_ABI::functional {
namespace {

using detail::redispatch_for_one;
using detail::redispatch_on_backend_of;
using detail::target_of;

// ---- Operators that overwrite a tensor: they do not read it, so no pending update is applied

Tensors fill(const Call& call) {
  FunctionalTensor& self = target_of(call, 0);
  const bool is_zero = call.arguments.size() == 1;
  const Scalar value = is_zero ? Scalar(0) : call.arguments[1].scalar();
  FunctionalTensor::PreparedWrite write = self.prepare_write(call.op.name().c_str());
  write.commit(redispatch_on_backend_of(self, "full", {self.sizes(), value, self.dtype()}));
  return {};
}

Tensors copy(const Call& call) {
  FunctionalTensor& self = target_of(call, 0);
  const AnyTensor& source = call.arguments[1].tensor();
  const Dims sizes = self.sizes();
  if (byre::detail::broadcast_sizes(sizes, source.sizes(), "copy_") != sizes) {
    throw ShapeError(
        format_text("copy_: cannot broadcast sizes %s to those of the written tensor, %s. Write to "
                    "a tensor of the larger sizes.",
                    byre::to_string(source.sizes()).c_str(), byre::to_string(sizes).c_str()));
  }
  FunctionalTensor::PreparedWrite write = self.prepare_write("copy_");
  detail::expect_no_partial_overlap(self, 0, call);
  detail::expect_captured_shares_no_input(source);
  // A value of the pass never changes. Any other value may change, so it is lazily cloned.
  AnyTensor value = source.as<FunctionalTensor>() != nullptr
                        ? from_functional(source)
                        : redispatch_for_one("clone", {source});
  detail::expect_takes_batch(self, value.batch_level(), "copy_");
  if (value.dtype() != self.dtype()) {
    value = redispatch_for_one("to", {std::move(value), self.dtype()});
  }
  if (value.sizes() != sizes) {
    value = redispatch_for_one("expand_copy", {std::move(value), sizes});
  }
  write.commit(std::move(value));
  return {};
}

/// Computes an out= variant by its functional variant, and copies the result to `out`. Rejects an
/// invalid `out` first, so errors name the operator that the program called.
Tensors write_out(const Call& call) {
  const char* const name = call.op.name().c_str();
  FunctionalTensor& target = target_of(call, call.arguments.size() - 1);
  static_cast<void>(target.prepare_write(name));
  const AnyTensor out = call.arguments.back().tensor();
  const auto operands = call.arguments.first(call.arguments.size() - 1);
  const AnyTensor result = dispatch(detail::functional_variant_of(call.op), operands).front();
  detail::expect_takes_batch(target, from_functional(result).batch_level(), name);
  detail::write_result_to_out(call.op, out, result);
  return {};
}

// ---- Operators that change which elements a tensor has

/// Grows a tensor. Throws StateError if its alias has other tensors. The new elements are zeros.
void grow(FunctionalTensor& self, const Dims& sizes) {
  const auto alias = self.alias_if_any();
  if (alias != nullptr && alias->tensor_count() > 1) {
    detail::refuse_to_grow(sizes);
  }
  const Dims flat{self.path().geometry().layout.numel()};
  const std::int64_t count = byre::detail::element_count(sizes, "resize_");
  AnyTensor value = redispatch_for_one("view_copy", {self.sync(), flat});
  AnyTensor zeros = redispatch_on_backend_of(self, "zeros", {Dims{count}, self.dtype()});
  value = redispatch_for_one("slice_scatter", {std::move(zeros), std::move(value), 0, 0, flat[0]});
  value = redispatch_for_one("view_copy", {std::move(value), sizes});
  ViewPath path(ViewGeometry::of_all(sizes, self.dtype()));
  self.set(std::move(value), std::move(path));
}

Tensors resize(const Call& call) {
  detail::expect_not_captured(call, 0);
  FunctionalTensor& self = target_of(call, 0);
  const Dims& sizes = call.arguments[1].dims();
  const ViewGeometry& geometry = self.path().geometry();
  Layout layout = detail::resized(geometry.layout, sizes);
  if (byre::detail::byte_count(layout.end(), byre::itemsize(geometry.dtype), "resize_") >
      geometry.storage_nbytes) {
    grow(self, sizes);
  } else if (layout != geometry.layout) {
    self.alias();  // creates the alias if needed: the tensor becomes a smaller view of it
    self.move_to(self.path().by_strides(geometry.with(std::move(layout))));
  }
  return {};
}

Tensors set(const Call& call) {
  detail::expect_not_captured(call, 0);
  FunctionalTensor& self = target_of(call, 0);
  const AnyTensor source = detail::functional(call.arguments[1].tensor());
  FunctionalTensor& other = *source.as<FunctionalTensor>();
  const auto alias = other.alias();
  detail::expect_takes_batch(self, alias->batch_level(), "set_");
  self.set(alias, other.path());
  return {};
}

}  // namespace

void detail::define_overwriting_operators() {
  extend("fill_").kernel(Key::functionalize, fill);
  extend("zero_").kernel(Key::functionalize, fill);
  extend("copy_").kernel(Key::functionalize, copy);
  extend("resize_").kernel(Key::functionalize, resize);
  extend("set_").kernel(Key::functionalize, set);
  for (const Operator* const op : operators()) {
    if (is_out_variant(op->schema())) {
      extend(op->name()).kernel(Key::functionalize, write_out);
    }
  }
}

}  // namespace byre::inline BYRE_ABI::functional
