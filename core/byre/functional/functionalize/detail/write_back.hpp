// SPDX-License-Identifier: BSL-1.0
/// WriteBack: the writes that end a program, all of them or none. What may fail is done first, and
/// the rest cannot fail.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// Used by one thread, which alone knows the tensors as long.
class WriteBack {
 public:
  /// Errors name `operation`, which stays valid.
  explicit WriteBack(const char* operation) noexcept : operation_(operation) {}

  /// `part` is to hold the elements of `value`, which has its sizes and dtype. Later writes go over
  /// earlier ones. Throws ShapeError for elements that share memory.
  void write(Tensor part, const Tensor& value);
  /// The same for a whole tensor: of the CPU, in its memory; of the pass, as an operator that
  /// writes it; of another backend, by rebind(). Throws what these throw.
  void write(const AnyTensor& tensor, const AnyTensor& value);
  /// `tensor` is to be what `other` is, in its memory or wherever that is. Throws what to_rebind()
  /// throws.
  void rebind(const AnyTensor& tensor, const AnyTensor& other);

  /// Once. Memory that has one owner by then is written in place: values that share it are copied,
  /// as far as they see it, and release it. Throws OutOfMemory, what updates of the pass throw, and
  /// what a device fails with: nothing has changed then, but for devices that were written before.
  void commit();

 private:
  struct MemoryWrite {
    Tensor memory;
    Tensor value;
  };
  struct Change {
    AnyTensor tensor;
    AnyTensor prepared;
  };

  const char* operation_;
  std::vector<MemoryWrite> memory_writes_;
  std::vector<Change> updates_;  // of tensors of the pass
  std::vector<Change> rebinds_;
};

}  // namespace byre::inline v0::functional
