// SPDX-License-Identifier: BSL-1.0
/// Kernels of the CPU that view rules say: views, views in place, what a view sees as a tensor of its
/// own, and the inverse, the base with other elements where a view sees it.
#include <byre/functional/backends/detail/cpu.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/tensor/elements.hpp>

#include <string>

namespace byre::inline v0::functional {
namespace {

/// Where the view reads its tensor's elements: as its strides say, or one after the other.
enum class Reads : bool { by_strides, in_order };

/// In order, from the first byte of its storage.
Tensor from_the_start(const Tensor& self) {
  return self.is_contiguous() && self.storage_offset() == 0 ? self : self.clone();
}

ViewGeometry seen(const Operator& view, const ViewGeometry& self,
                  std::span<const Argument> arguments) {
  return (*view.view())(self, arguments).front();
}

/// For a program, a tensor of its own, in order, as on every backend. Below passes a lazy clone.
Tensor copied(const Tensor& seen) {
  return is_below_passes() ? seen.lazy_clone() : packed(seen);
}

Tensor copy_of_view(const Operator& view, Reads reads, const Call& call) {
  const auto arguments = call.arguments.subspan(1);
  const Tensor& self = to_cpu(call.arguments[0].tensor());
  if (reads == Reads::by_strides) {
    return copied(view_of(self, seen(view, geometry_of(self), arguments)));
  }
  const Tensor base = from_the_start(self);
  const ViewGeometry of_base = ViewGeometry::of_all(base.sizes(), base.dtype());
  const ViewGeometry geometry = seen(view, of_base, arguments);
  return copied(view_of(base, {geometry.layout, geometry.dtype, base.storage().nbytes()}));
}

/// A tensor of the elements of `self` that shares no memory: `self` itself, if this is its only handle.
AnyTensor own(const AnyTensor& self, Reads reads) {
  const Tensor& value = to_cpu(self);
  const bool is_in_order = value.is_contiguous() && value.storage_offset() == 0;
  if (may_overlap_itself(value.layout()) ||
      (!is_in_order && (reads == Reads::in_order || !is_below_passes()))) {
    return from_cpu(value.clone());
  }
  const bool is_sole =
      self.handle_count() == 1 && value.handle_count() == 1 && value.storage().handle_count() == 1;
  return is_sole ? self : from_cpu(copied(value));
}

AnyTensor scatter(const Operator& view, Reads reads, const Call& call) {
  const AnyTensor& source = call.arguments[1].tensor();
  meta_of_results(call);  // refuses a source that does not fit
  AnyTensor base = own(call.arguments[0].tensor(), reads);
  const Tensor& written = to_cpu(base);
  Tensor part = view_of(written, seen(view, geometry_of(written), call.arguments.subspan(2)));
  copy_(part, to_cpu(source));
  return base;
}

void define_copy(const std::string& name, Reads reads) {
  const Operator& view = find(name);
  extend(detail::with_suffix(name, "_copy")).kernel(Key::cpu, [&view, reads](const Call& call) {
    return Tensors{from_cpu(copy_of_view(view, reads, call))};
  });
}

void define_scatter(const std::string& name, Reads reads) {
  const Operator& view = find(name);
  extend(detail::with_suffix(name, "_scatter")).kernel(Key::cpu, [&view, reads](const Call& call) {
    return Tensors{scatter(view, reads, call)};
  });
}

Tensors views_of(const Operator& op, std::span<Argument> arguments) {
  const Tensor& self = to_cpu(arguments.front().tensor());
  Tensors views;
  for (const ViewGeometry& geometry : (*op.view())(geometry_of(self), arguments.subspan(1))) {
    views.push_back(from_cpu(view_of(self, geometry)));
  }
  return views;
}

/// Views, by their rules; and views in place, by the views.
Tensors compute_by_view_rule(const Call& call) {
  if (call.op.view() != nullptr) {
    return views_of(call.op, call.arguments);
  }
  if (const Operator* const view = call.op.view_variant()) {
    Tensor seen = to_cpu(views_of(*view, call.arguments).front());
    to_cpu(call.arguments.front().tensor()) = std::move(seen);
    return {};
  }
  refuse_missing_kernel(call.op, Key::cpu);
}

}  // namespace

void detail::define_cpu_backend() {
  set_fallback(Key::cpu, compute_by_view_rule);
  for (const char* const view : {"view", "view.dtype", "as_strided"}) {
    define_copy(view, Reads::in_order);
  }
  for (const char* const view : {"permute", "expand", "select", "slice", "diagonal"}) {
    define_copy(view, Reads::by_strides);
  }
  for (const char* const view : {"select", "slice", "diagonal"}) {
    define_scatter(view, Reads::by_strides);
  }
  define_scatter("as_strided", Reads::in_order);
}

}  // namespace byre::inline v0::functional
