// SPDX-License-Identifier: BSL-1.0
/// A backend that stands in for a device: its tensors cannot be pointed into, and it has neither
/// views nor operators that write. It computes on the CPU.
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

/// The backend's key. The first call registers its fallback. Thread-safe.
functional::Key opaque_backend();

/// Copies `tensor` to the backend. Later writes to it are not visible in the copy.
functional::AnyTensor to_opaque(const Tensor& tensor);
/// Copies the elements to the CPU. Throws DeviceError for a tensor of another backend or a pass.
Tensor from_opaque(const functional::AnyTensor& tensor);

/// The backend's work so far, and its living tensors.
struct OpaqueCounts {
  std::uint64_t computed = 0;   ///< operators called
  std::uint64_t replayed = 0;   ///< copying variants of views among these
  std::uint64_t scattered = 0;  ///< scatters among these: one per link of an update
  std::uint64_t living = 0;     ///< living tensors
};
/// Thread-safe.
OpaqueCounts opaque_counts() noexcept;

}  // namespace byre::test
