// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/view_geometry.hpp>

namespace byre::inline BYRE_ABI {

ViewGeometry geometry_of(const Tensor& tensor) {
  detail::expect_tensor(tensor, "geometry_of");
  return {tensor.layout(), tensor.dtype(), tensor.storage().nbytes()};
}

Tensor view_of(const Tensor& tensor, const ViewGeometry& geometry) {
  detail::expect_tensor(tensor, "view_of");
  const Layout& to = geometry.layout;
  if (geometry.dtype == tensor.dtype()) {
    return tensor.as_strided(to.sizes, to.strides, to.offset);
  }
  // Rounds down, because the storage may end with a partial element.
  const auto count = static_cast<std::int64_t>(geometry.storage_nbytes / tensor.itemsize());
  const auto ratio = static_cast<std::int64_t>(byre::itemsize(geometry.dtype) / tensor.itemsize());
  const std::int64_t whole = ratio > 1 ? count - count % ratio : count;
  return tensor.as_strided({whole}, {1}, 0)
      .view(geometry.dtype)
      .as_strided(to.sizes, to.strides, to.offset);
}

Tensor packed(const Tensor& tensor) {
  detail::expect_tensor(tensor, "packed");
  const bool fills_storage = tensor.is_contiguous() && tensor.nbytes() == tensor.storage().nbytes();
  return fills_storage ? tensor.lazy_clone() : tensor.clone();
}

}  // namespace byre::inline BYRE_ABI
