// SPDX-License-Identifier: BSL-1.0
/// The pure forms of views: what a view sees, as a tensor of its own; and the inverses, the base with
/// other elements where a view sees it. Eight views, of which all others are made.
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/operators/builtin.hpp>
#include <byre/tensor/elements.hpp>

#include <string>

namespace byre::inline v0::functional {
namespace {

/// Where the view reads its tensor's elements in: as its strides say, or one after the other.
enum class Reads : bool { by_strides, in_order };

/// In order, from the first byte of its storage.
Tensor from_the_start(const Tensor& self) {
  return self.is_contiguous() && self.storage_offset() == 0 ? self : self.clone();
}

Window seen(const Operator& view, const Window& self, std::span<const Argument> arguments) {
  return (*view.view())(self, arguments).front();
}

Window seen_of(const Operator& view, const AnyTensor& self, std::span<const Argument> arguments) {
  return seen(view, Window::of_all(self.sizes(), self.dtype()), arguments);
}

bool is_below_pass() noexcept {
  return thread_keys().excluded.has(Key::functionalize);
}

/// Values of a pass or of a graph may have any strides, and see a part of what they keep: nobody asks
/// for either. But of a small part a lazy clone would keep all there is, and have who writes the rest
/// copy it. A program may ask, by as_strided, and is given what every backend gives it: a tensor of its
/// own, in order.
Tensor copied(const Tensor& seen) {
  if (!is_below_pass()) {
    return independent(seen);
  }
  return 2 * seen.nbytes() < seen.storage().nbytes() ? seen.clone() : seen.lazy_clone();
}

Tensor copy_of_view(const Operator& view, Reads reads, const Call& call) {
  const auto arguments = call.arguments.subspan(1);
  const Tensor& self = to_cpu(call.arguments[0].tensor());
  if (reads == Reads::by_strides) {
    return copied(view_through(self, seen(view, window_of(self), arguments)));
  }
  const Tensor base = from_the_start(self);
  const Window window = seen(view, Window::of_all(base.sizes(), base.dtype()), arguments);
  return copied(view_through(base, {window.layout, window.dtype, base.storage().nbytes()}));
}

/// A tensor of the elements of `self` that nobody else sees: itself, if this is its only handle.
AnyTensor own(const AnyTensor& self, Reads reads) {
  const Tensor& value = to_cpu(self);
  const bool is_in_order = value.is_contiguous() && value.storage_offset() == 0;
  if (may_overlap_itself(value.layout()) ||
      (!is_in_order && (reads == Reads::in_order || !is_below_pass()))) {
    return from_cpu(value.clone());
  }
  const bool is_sole =
      self.handle_count() == 1 && value.handle_count() == 1 && value.storage().handle_count() == 1;
  return is_sole ? self : from_cpu(copied(value));
}

void expect_source_fits(const Operator& op, const Window& part, const AnyTensor& source) {
  if (source.sizes() != part.layout.sizes || source.dtype() != part.dtype) {
    throw ShapeError(
        format_text("%s: %s was given where the view is of %s%s. Convert and expand it first.",
                    op.name().c_str(), describe(source).c_str(), byre::name_of(part.dtype),
                    byre::to_string(part.layout.sizes).c_str()));
  }
  if (part.overlaps_itself()) {
    throw ShapeError(format_text(
        "%s: the view, of sizes %s and strides %s, sees some element twice, or may: which value it "
        "would have is not said. Write a tensor of its own.",
        op.name().c_str(), byre::to_string(part.layout.sizes).c_str(),
        byre::to_string(part.layout.strides).c_str()));
  }
}

AnyTensor scatter(const Operator& view, Reads reads, const Call& call) {
  const AnyTensor& self = call.arguments[0].tensor();
  const AnyTensor& source = call.arguments[1].tensor();
  const auto arguments = call.arguments.subspan(2);
  expect_source_fits(call.op, seen_of(view, self, arguments), source);
  AnyTensor base = own(self, reads);
  const Tensor& written = to_cpu(base);
  Tensor part = view_through(written, seen(view, window_of(written), arguments));
  copy_(part, to_cpu(source));
  return base;
}

std::vector<TensorMeta> meta_of_copy(const Operator& view, const Call& call) {
  const Window window = seen_of(view, call.arguments[0].tensor(), call.arguments.subspan(1));
  return {{window.layout.sizes, window.dtype}};
}

std::vector<TensorMeta> meta_of_scatter(const Operator& view, const Call& call) {
  const AnyTensor& self = call.arguments[0].tensor();
  expect_source_fits(call.op, seen_of(view, self, call.arguments.subspan(2)),
                     call.arguments[1].tensor());
  return {{self.sizes(), self.dtype()}};
}

/// "view.dtype" as "view_copy.dtype".
std::string renamed(const std::string& name, const std::string& suffix) {
  const std::size_t end = std::min(name.find('.'), name.size());
  return name.substr(0, end) + suffix + name.substr(end);
}

void define_copy(const Operator& view, const std::string& parameters, Reads reads) {
  detail::define_builtin(renamed(view.name(), "_copy") + "(Tensor self, " + parameters +
                         ") -> Tensor")
      .kernel(Key::cpu,
              [&view, reads](const Call& call) {
                return Tensors{from_cpu(copy_of_view(view, reads, call))};
              })
      .meta([&view](const Call& call) { return meta_of_copy(view, call); });
}

void define_scatter(const Operator& view, const std::string& parameters, Reads reads) {
  detail::define_builtin(renamed(view.name(), "_scatter") + "(Tensor self, Tensor source, " +
                         parameters + ") -> Tensor")
      .kernel(Key::cpu,
              [&view, reads](const Call& call) { return Tensors{scatter(view, reads, call)}; })
      .meta([&view](const Call& call) { return meta_of_scatter(view, call); });
}

}  // namespace

void detail::define_view_copies() {
  const std::string select = "int axis, int index";
  const std::string slice = "int axis, int start=0, int? end=none, int step=1";
  const std::string diagonal = "int offset=0, int first=0, int second=1";
  const std::string as_strided = "int[] sizes, int[] strides, int? offset=none";
  define_copy(builtin("view"), "int[] sizes", Reads::in_order);
  define_copy(builtin("view.dtype"), "DType dtype", Reads::in_order);
  define_copy(builtin("permute"), "int[] axes", Reads::by_strides);
  define_copy(builtin("expand"), "int[] sizes", Reads::by_strides);
  define_copy(builtin("select"), select, Reads::by_strides);
  define_copy(builtin("slice"), slice, Reads::by_strides);
  define_copy(builtin("diagonal"), diagonal, Reads::by_strides);
  define_copy(builtin("as_strided"), as_strided, Reads::in_order);
  define_scatter(builtin("select"), select, Reads::by_strides);
  define_scatter(builtin("slice"), slice, Reads::by_strides);
  define_scatter(builtin("diagonal"), diagonal, Reads::by_strides);
  define_scatter(builtin("as_strided"), as_strided, Reads::in_order);
}

}  // namespace byre::inline v0::functional
