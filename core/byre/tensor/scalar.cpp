// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/elements_convert.hpp>
#include <byre/tensor/elements_operands.hpp>
#include <byre/tensor/scalar.hpp>

namespace byre::inline v0 {

Tensor Scalar::to_tensor(DType dtype) const {
  return visit(dtype, "Scalar::to_tensor", [this]<class T>() {
    const T value = std::visit([](auto held) { return detail::converted<T>(held); }, value_);
    return Tensor::of<T>({}, std::span<const T>(&value, 1));
  });
}

Tensor Scalar::beside(const Tensor& tensor, const char* operation) const {
  detail::expect_dtype_known(tensor, operation);
  return to_tensor(dtype_beside(tensor.dtype()));
}

}  // namespace byre::inline v0
