// SPDX-License-Identifier: BSL-1.0
/// A test backend that stands in for a device: no pointer into its tensors can be obtained, and it
/// supports neither views nor operators that write. The backend computes on the CPU.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <utility>

namespace byre::test {

/// The elements never change. Only rebind() replaces them.
class OpaqueTensor final : public functional::TensorImpl {
 public:
  static inline const functional::Key key = functional::add_backend({.name = "opaque"});

  explicit OpaqueTensor(const Tensor& elements);
  ~OpaqueTensor() override;
  Dims sizes() const override { return elements_.sizes(); }
  DType dtype() const override { return elements_.dtype(); }
  functional::AnyTensor to_rebind(const functional::AnyTensor& other) const override;
  void rebind(TensorImpl& prepared) noexcept override;
  Tensor elements() const { return elements_.clone(); }

 private:
  Tensor elements_;
};

/// Returns the backend's key. The first call registers the backend's fallback. Thread-safe.
functional::Key opaque_backend();

/// Copies `tensor` to the backend. Later writes to `tensor` are not visible in the copy.
functional::AnyTensor to_opaque(const Tensor& tensor);
/// Copies the elements to the CPU. Throws DeviceError if the tensor belongs to another backend or
/// to a pass.
Tensor from_opaque(const functional::AnyTensor& tensor);

/// The backend's work so far, and its living tensors.
struct OpaqueCounts {
  std::uint64_t computed = 0;   ///< calls of operators
  std::uint64_t replayed = 0;   ///< calls of copying variants of views, included in `computed`
  std::uint64_t scattered = 0;  ///< calls of scatters, included in `computed`: up to 1 per link
  std::uint64_t living = 0;     ///< living tensors
};
/// Thread-safe.
OpaqueCounts opaque_counts() noexcept;

}  // namespace byre::test
