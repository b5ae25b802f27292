// SPDX-License-Identifier: BSL-1.0
/// A stand-in for a device's backend: its tensors are opaque, so that nothing points into one, and it has neither
/// views nor operators that write. It computes what the CPU computes.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <utility>

namespace byre::test {

/// Its elements never change; which tensor it is changes by rebind() alone.
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

/// The backend's key. Its fallback is registered at the first call. Thread-safe.
functional::Key opaque_backend();

/// A copy: neither shows what is written to the other.
functional::AnyTensor to_opaque(const Tensor& tensor);
/// A copy of what is behind one. Throws DeviceError for a tensor of another backend or a pass.
Tensor from_opaque(const functional::AnyTensor& tensor);

/// Counts of the backend's work so far, and of its tensors.
struct OpaqueCounts {
  std::uint64_t computed = 0;   ///< calls of operators
  std::uint64_t replayed = 0;   ///< views among these
  std::uint64_t scattered = 0;  ///< updates among these, link by link
  std::uint64_t living = 0;     ///< tensors
};
/// Thread-safe.
OpaqueCounts opaque_counts() noexcept;

}  // namespace byre::test
