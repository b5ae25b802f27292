// SPDX-License-Identifier: BSL-1.0
/// The CPU backend's tensors, which wrap byre::Tensor, and the conversions from and to
/// byre::Tensor. Kernels for the CPU are functions of byre::Tensor.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/kernel.hpp>
#include <byre/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// A tensor of the CPU. All copies of a handle refer to the same CpuTensor. Operators such as
/// transpose_ therefore replace `value` for all these handles.
class BYRE_API CpuTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::cpu;

  explicit CpuTensor(Tensor tensor) noexcept : TensorImpl(key), value(std::move(tensor)) {}
  Dims sizes() const override { return value.sizes(); }
  DType dtype() const override { return value.dtype(); }
  /// Returns an alias of `other`.
  AnyTensor to_rebind(const AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

  Tensor value;
};

/// Returns an AnyTensor that aliases `tensor`: writes to either are visible in both. Copies no
/// elements. Throws ArgumentError if `tensor` is empty, or OutOfMemory.
BYRE_API AnyTensor from_cpu(Tensor tensor);

/// Returns the wrapped tensor. Throws DeviceError if `tensor` is empty or belongs to another
/// backend or a pass.
BYRE_API Tensor& to_cpu(const AnyTensor& tensor);

template <>
struct Unboxed<Tensor> {
  static Tensor& from(Argument& argument) { return to_cpu(argument.tensor()); }
};
template <>
struct Boxed<Tensor> {
  static AnyTensor from(Tensor result) { return from_cpu(std::move(result)); }
};
template <>
struct BYRE_API Boxed<std::vector<Tensor>> {
  static Tensors from(std::vector<Tensor> results);
};

}  // namespace byre::inline BYRE_ABI::functional
