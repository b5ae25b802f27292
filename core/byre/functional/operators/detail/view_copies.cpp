// SPDX-License-Identifier: BSL-1.0
/// Defines the functional variants of eight views. All other views are expressed by these eight. A
/// *_copy operator returns the viewed elements as a new tensor. A *_scatter operator returns the
/// base with the elements of the view replaced by the source.
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/tensor/elements.hpp>

#include <string>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// How the view addresses the elements of the viewed tensor: by the tensor's strides, or by the
/// position of the elements in row-major order.
enum class Reads : bool { by_strides, in_order };

ViewGeometry geometry_of_view(const Operator& view, const ViewGeometry& self,
                              std::span<const Argument> arguments) {
  return (*view.view())(self, arguments).front();
}
ViewGeometry geometry_in_order(const Operator& view, const AnyTensor& self,
                               std::span<const Argument> arguments) {
  return geometry_of_view(view, ViewGeometry::of_all(self.sizes(), self.dtype()), arguments);
}

void expect_source_fits(const Operator& op, const ViewGeometry& part, const AnyTensor& source) {
  if (source.sizes() != part.layout.sizes || source.dtype() != part.dtype) {
    throw ShapeError(
        format_text("%s: the source is %s, the view %s%s. Convert and expand it first.",
                    op.name().c_str(), describe(source).c_str(), byre::name_of(part.dtype),
                    byre::to_string(part.layout.sizes).c_str()));
  }
  if (part.overlaps_itself()) {
    throw ShapeError(
        format_text("%s: the view, of sizes %s and strides %s, may see an element twice: its value "
                    "would be ambiguous. Write to a clone().",
                    op.name().c_str(), byre::to_string(part.layout.sizes).c_str(),
                    byre::to_string(part.layout.strides).c_str()));
  }
}

TensorMeta meta_of_copy(const Operator& view, const Call& call) {
  const ViewGeometry part =
      geometry_in_order(view, call.arguments[0].tensor(), call.arguments.subspan(1));
  return {part.layout.sizes, part.dtype};
}

TensorMeta meta_of_scatter(const Operator& view, const Call& call) {
  const AnyTensor& self = call.arguments[0].tensor();
  expect_source_fits(call.op, geometry_in_order(view, self, call.arguments.subspan(2)),
                     call.arguments[1].tensor());
  return {self.sizes(), self.dtype()};
}

// ---- Kernels of the CPU

/// Whether the tensor is contiguous and begins at the first byte of its storage.
bool is_from_the_start(const Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage_offset() == 0;
}

/// Returns a lazy clone of `part` if a pass called the operator. If a program called it, returns a
/// packed tensor, as the operators of every backend do.
Tensor own_copy(const Tensor& part) {
  return is_below_passes() ? part.lazy_clone() : packed(part);
}

AnyTensor copy_of_view(const Operator& view, Reads reads, const Call& call) {
  const auto arguments = call.arguments.subspan(1);
  const Tensor& self = to_cpu(call.arguments[0].tensor());
  if (reads == Reads::by_strides) {
    return from_cpu(own_copy(view_of(self, geometry_of_view(view, geometry_of(self), arguments))));
  }
  const Tensor base = is_from_the_start(self) ? self : self.clone();
  const ViewGeometry part = geometry_in_order(view, call.arguments[0].tensor(), arguments);
  return from_cpu(own_copy(view_of(base, {part.layout, part.dtype, base.storage().nbytes()})));
}

/// Returns a tensor with the elements of `self` that aliases nothing: `self` itself if no other
/// handle to it or to its storage exists, otherwise a clone.
AnyTensor unaliased(const AnyTensor& self, Reads reads) {
  const Tensor& value = to_cpu(self);
  if (may_overlap_itself(value.layout()) ||
      (!is_from_the_start(value) && (reads == Reads::in_order || !is_below_passes()))) {
    return from_cpu(value.clone());
  }
  const bool is_only_handle =
      self.handle_count() == 1 && value.handle_count() == 1 && value.storage().handle_count() == 1;
  return is_only_handle ? self : from_cpu(own_copy(value));
}

AnyTensor scatter_to_view(const Operator& view, Reads reads, const Call& call) {
  meta_of_scatter(view, call);  // rejects a source that does not fit
  AnyTensor base = unaliased(call.arguments[0].tensor(), reads);
  const Tensor& written = to_cpu(base);
  Tensor part =
      view_of(written, geometry_of_view(view, geometry_of(written), call.arguments.subspan(2)));
  copy_(part, to_cpu(call.arguments[1].tensor()));
  return base;
}

struct VariantRow {
  const char* view;
  const char* parameters;
  Reads reads;
  bool has_scatter;
  bool shifts_axes;
};

template <auto MetaOf, auto Compute>
void define_variant(const VariantRow& row, const char* suffix, const char* tensors) {
  const Operator& view = find(row.view);
  const Definition defined = define(detail::with_suffix(row.view, suffix) + "(" + tensors + ", " +
                                    row.parameters + ") -> Tensor");
  defined.meta([&view](const Call& call) { return std::vector{MetaOf(view, call)}; });
  defined.kernel(Key::cpu, [&view, reads = row.reads](const Call& call) {
    return Tensors{Compute(view, reads, call)};
  });
  if (row.shifts_axes) {
    defined.tag(Tag::axis_shift);
  }
}

}  // namespace

void detail::define_view_copies() {
  using enum Reads;
  constexpr VariantRow all[] = {
      {"view", "int[] sizes", in_order, false, false},
      {"view.dtype", "DType dtype", in_order, false, true},
      {"permute", "Axis[] axes", by_strides, false, false},
      {"expand", "int[] sizes", by_strides, false, false},
      {"as_strided", "int[] sizes, int[] strides, int? offset=none", in_order, true, false},
      {"select", "Axis axis, int index", by_strides, true, true},
      {"slice", "Axis axis, int start=0, int? end=none, int step=1", by_strides, true, true},
      {"diagonal", "int offset=0, Axis first=0, Axis second=1", by_strides, true, true},
  };
  for (const VariantRow& row : all) {
    define_variant<meta_of_copy, copy_of_view>(row, "_copy", "Tensor self");
    if (row.has_scatter) {
      define_variant<meta_of_scatter, scatter_to_view>(row, "_scatter",
                                                       "Tensor self, Tensor source");
    }
  }
}

}  // namespace byre::inline BYRE_ABI::functional
