// SPDX-License-Identifier: BSL-1.0
/// The CPU's tensors: those of byre/tensor, on the host. Kernels for the CPU are functions of them.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/kernel.hpp>
#include <byre/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// A handle to it, copied, is one to the same: operations in place that change what a tensor sees,
/// as transpose_ does, exchange `value`.
class BYRE_API CpuTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::cpu;

  explicit CpuTensor(Tensor tensor) noexcept : TensorImpl(key), value(std::move(tensor)) {}
  Dims sizes() const override { return value.sizes(); }
  DType dtype() const override { return value.dtype(); }
  /// An alias of `other`.
  AnyTensor to_rebind(const AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;

  Tensor value;
};

/// A handle to a tensor of its own that is `tensor`: both see what is written to either. Throws
/// ArgumentError for a handle without a tensor.
BYRE_API AnyTensor from_cpu(Tensor tensor);

/// What is behind it. Throws DeviceError for a tensor of another backend or a pass.
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

}  // namespace byre::inline v0::functional
