// SPDX-License-Identifier: BSL-1.0
/// Operators that read nothing of what they write, and those that give a tensor other elements: kernels
/// of the pass that are no calls of a pure form.
#include <byre/functional/functionalize/pass_parts.hpp>
#include <byre/functional/operators/builtin.hpp>
#include <byre/tensor/detail/operands.hpp>

namespace byre::inline v0::functional {
namespace {

using detail::expect_apart;
using detail::made_beside;
using detail::one_below;
using detail::target_of;

// ---- What is overwritten is not read: no update need be applied for it.

Tensors fill(const Call& call) {
  FunctionalTensor& self = target_of(call, 0);
  const bool is_zero = call.arguments.size() == 1;
  const Scalar value = is_zero ? Scalar(0) : call.arguments[1].scalar();
  self.prepare_write(call.op.name().c_str());
  self.write(made_beside(self, "full", {self.sizes(), value, self.dtype()}));
  return {};
}

Tensors copy(const Call& call) {
  FunctionalTensor& self = target_of(call, 0);
  const AnyTensor& source = call.arguments[1].tensor();
  const Dims sizes = self.sizes();
  if (byre::detail::broadcast_sizes(sizes, source.sizes(), "copy_") != sizes) {
    throw ShapeError(
        format_text("copy_: sizes %s do not broadcast to %s, those of the tensor that is written, "
                    "which stay as they are. Use a tensor of the larger sizes.",
                    byre::to_string(source.sizes()).c_str(), byre::to_string(sizes).c_str()));
  }
  self.prepare_write("copy_");
  expect_apart(self, source, "copy_");
  detail::expect_captured_apart(source);
  // A value of the pass never changes; any other may, and is cloned, lazily.
  AnyTensor value = source.as<FunctionalTensor>() != nullptr ? from_functional(source)
                                                             : one_below("clone", {source});
  detail::expect_takes_batch(self, value, "copy_");
  if (value.dtype() != self.dtype()) {
    value = one_below("to", {std::move(value), self.dtype()});
  }
  if (value.sizes() != sizes) {
    value = one_below("expand_copy", {std::move(value), sizes});
  }
  self.write(std::move(value));
  return {};
}

// ---- Other elements for one handle.

/// Of a tensor alone in its alias: with zeros behind the elements there are.
void grow(FunctionalTensor& self, const Dims& sizes) {
  const auto alias = self.alias_if_any();
  if (alias != nullptr && alias->tensor_count() > 1) {
    throw StateError(
        format_text("resize_: to sizes %s, which is more than the storage has, of a tensor that "
                    "has views, or is one: they would be left behind. clone() it first.",
                    byre::to_string(sizes).c_str()));
  }
  const Dims flat{self.path().window().layout.numel()};
  const std::int64_t count = byre::detail::element_count(sizes, "resize_");
  AnyTensor value = one_below("view_copy", {self.value(), flat});
  AnyTensor zeros = made_beside(self, "zeros", {Dims{count}, self.dtype()});
  value = one_below("slice_scatter", {std::move(zeros), std::move(value), 0, 0, flat[0]});
  value = one_below("view_copy", {std::move(value), sizes});
  ViewPath path(Window::of_all(sizes, self.dtype()));
  self.set(std::move(value), std::move(path));
}

Tensors resize(const Call& call) {
  detail::expect_not_captured(call, 0);
  FunctionalTensor& self = target_of(call, 0);
  const Dims& sizes = call.arguments[1].dims();
  const Window& window = self.path().window();
  Layout layout = contiguous_layout(sizes, "resize_");
  if (!window.layout.is_contiguous()) {
    throw ShapeError(format_text(
        "resize_: the tensor, of sizes %s and strides %s, is not contiguous: its elements would be "
        "others. clone() it first.",
        byre::to_string(window.layout.sizes).c_str(),
        byre::to_string(window.layout.strides).c_str()));
  }
  layout.offset = window.layout.offset;
  if (static_cast<std::size_t>(layout.end()) * byre::itemsize(window.dtype) >
      window.storage_nbytes) {
    grow(self, sizes);
  } else if (layout != window.layout) {
    self.alias();  // of which it sees less from now on
    self.move_to(self.path().by_strides(window.with(std::move(layout))));
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
  extend_builtin("fill_").kernel(Key::functionalize, fill);
  extend_builtin("zero_").kernel(Key::functionalize, fill);
  extend_builtin("copy_").kernel(Key::functionalize, copy);
  extend_builtin("resize_").kernel(Key::functionalize, resize);
  extend_builtin("set_").kernel(Key::functionalize, set);
}

}  // namespace byre::inline v0::functional
