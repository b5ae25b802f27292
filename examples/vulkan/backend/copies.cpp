// SPDX-License-Identifier: BSL-1.0
/// Kernels that create or copy tensors, and kernels of the functional variants of views, whose
/// result has its own storage. If the bytes do not change, the result is a lazy clone. Otherwise
/// the kernel records one dispatch, with the strides that the view's rule returns.
#include <algorithm>
#include <byre/functional/dispatch/registry.hpp>
#include <byre/tensor/views.hpp>

#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan {
namespace {

using namespace byre::functional;
using byre::Dims;
using byre::DType;
using byre::Layout;
using byre::Scalar;
using byre::ViewGeometry;

AnyTensor filled_with(const Call& call, const Scalar& value) {
  TensorMeta meta = meta_of_results(call).front();
  const Domain domain = domain_of(meta.dtype == DType::uninitialized ? DType::f32 : meta.dtype);
  return filled(meta, bits_of(value, meta.dtype, domain, call.op.name().c_str()));
}

AnyTensor counted_up(const Call& call) {
  TensorMeta meta = meta_of_results(call).front();
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  run({.sizes = meta.sizes,
       .places = {place_of(*result, meta.sizes), {.type = Place::element_index}}});
  return result;
}

/// Shares the operand's bytes with the sizes and the dtype of the operator's result.
AnyTensor cloned(const Call& call) {
  const Operands operands(call);
  TensorMeta meta = meta_of_results(call).front();
  return lazy_clone(operands[0], std::move(meta.sizes), meta.dtype);
}

AnyTensor converted(const Call& call) {
  const Operands operands(call);
  const DType dtype = call.arguments[1].dtype();
  if (dtype == operands[0].dtype()) {
    return lazy_clone(operands[0]);
  }
  const Dims& sizes = operands[0].dims();
  VulkanTensorPtr result = empty_on_device(sizes, dtype);
  run_copy(place_of(*result, sizes), place_of(operands[0], sizes), sizes);
  return result;
}

ViewGeometry seen(const Operator& view, const VulkanTensor& self, std::span<const Argument> given) {
  return (*view.view())(ViewGeometry::of_all(self.dims(), self.dtype()), given).front();
}

bool is_whole_and_contiguous(const ViewGeometry& geometry) {
  return geometry.layout.offset == 0 && geometry.layout.is_contiguous() &&
         geometry.nbytes() == geometry.storage_nbytes;
}

AnyTensor gathered(const Operator& view, const Call& call) {
  const Operands operands(call);
  const ViewGeometry geometry = seen(view, operands[0], call.arguments.subspan(1));
  const Dims& sizes = geometry.layout.sizes;
  if (is_whole_and_contiguous(geometry)) {
    return lazy_clone(operands[0], sizes, geometry.dtype);
  }
  VulkanTensorPtr result = empty_on_device(sizes, geometry.dtype);
  run_copy(place_of(*result, sizes), place_of(operands[0], geometry.layout), sizes);
  return result;
}

/// Writes the source to the elements of the base that the view selects. Writes the base itself if
/// the call has the only handle to the base, and otherwise writes a copy of the base.
AnyTensor scattered(const Operator& view, const Call& call) {
  meta_of_results(call);  // throws if the source does not fit
  const Operands operands(call);
  const ViewGeometry geometry = seen(view, operands[0], call.arguments.subspan(2));
  const VulkanTensor& source = operands[1];
  if (is_whole_and_contiguous(geometry)) {
    return lazy_clone(source, operands[0].dims(), source.dtype());
  }
  const AnyTensor base = operands.is_sole(0) ? operands.handle(0) : lazy_clone(operands[0]);
  if (source.storage()) {
    auto& written = *base.as<VulkanTensor>();
    written.storage().mutable_data();  // before place_of(): this may move the data
    run_copy(place_of(written, geometry.layout), place_of(source, source.dims()), source.dims());
  }
  return base;
}

AnyTensor flipped(const Call& call) {
  TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  Place from = place_of(operands[0], meta.sizes);
  for (const std::int64_t axis : call.arguments[1].dims()) {
    const std::size_t at = axis_of(axis, meta.sizes);
    from.offset += (meta.sizes[at] - 1) * from.strides[at];
    from.strides[at] = -from.strides[at];
  }
  run_copy(place_of(*result, meta.sizes), std::move(from), meta.sizes);
  return result;
}

AnyTensor joined(const Call& call) {
  TensorMeta meta = meta_of_results(call).front();
  const Operands operands(call);
  const std::size_t along = axis_of(call.arguments[1].integer(), meta.sizes);
  VulkanTensorPtr result = empty_on_device(meta.sizes, meta.dtype);
  Place to = place_of(*result, meta.sizes);
  std::int64_t stride = 1;
  for (std::size_t inner = along + 1; inner < meta.sizes.size(); ++inner) {
    stride *= meta.sizes[inner];
  }
  to.strides[along] = stride;  // place_of() returns 0 if the size is 1
  for (std::size_t index = 0; index < operands.size(); ++index) {
    const VulkanTensor& next = operands[index];
    run_copy(to, place_of(next, next.dims()), next.dims());
    to.offset += next.dims()[along] * stride;
  }
  return result;
}

}  // namespace

void define_copies() {
  define_kernel("zeros", [](const Call& call) { return filled_with(call, 0); });
  define_kernel("ones", [](const Call& call) { return filled_with(call, 1); });
  define_kernel("full",
                [](const Call& call) { return filled_with(call, call.arguments[1].scalar()); });
  define_kernel("arange", counted_up);
  for (const char* const name : {"clone", "contiguous", "reshape"}) {
    define_kernel(name, cloned);
  }
  define_kernel("to", converted);
  define_kernel("flip", flipped);
  define_kernel("cat", joined);
  for (const std::string name :
       {"view", "view.dtype", "permute", "expand", "select", "slice", "diagonal", "as_strided"}) {
    const Operator& view = find(name);
    const std::size_t end = std::min(name.find('.'), name.size());
    define_kernel(name.substr(0, end) + "_copy" + name.substr(end),
                  [&view](const Call& call) { return gathered(view, call); });
    if (name == "select" || name == "slice" || name == "diagonal" || name == "as_strided") {
      define_kernel(name + "_scatter", [&view](const Call& call) { return scattered(view, call); });
    }
  }
}

}  // namespace examples::vulkan
