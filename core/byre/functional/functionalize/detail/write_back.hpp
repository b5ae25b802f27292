// SPDX-License-Identifier: BSL-1.0
/// A WriteBack performs the writes to inputs at the end of a program. It performs either all writes
/// or none, because the steps that can fail come first.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/tensor/tensor.hpp>

#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// Only one thread may use a WriteBack, and no other thread may use its tensors meanwhile.
class WriteBack {
 public:
  /// Errors name `operation`, which must outlive this object.
  explicit WriteBack(const char* operation) noexcept : operation_(operation) {}

  /// Records a write of `value` to `part`. Later writes overwrite earlier writes. Requires equal
  /// sizes and dtypes. Throws ShapeError if elements of `part` share memory.
  void write(Tensor part, const Tensor& value);
  /// Records a write of `value` to a whole tensor: in memory for the CPU, as an update for the
  /// pass, by rebind() for other backends. Throws the errors of the other write() or of rebind(),
  /// or DispatchError if a batch would be written to a tensor of the pass without a batch.
  void write(const AnyTensor& tensor, const AnyTensor& value);
  /// Records that `tensor` becomes `other`: on the CPU an alias of `other`, on another backend a
  /// tensor with the value of `other`. Throws the errors of to_rebind().
  void rebind(const AnyTensor& tensor, const AnyTensor& other);

  /// Performs the writes. Call it once. Values that share data with written memory are copied first
  /// (only the elements that they view). The copies release the shared data, so memory without
  /// other owners is written in place. Throws OutOfMemory, the errors of updates of the pass, or
  /// device errors. After an error nothing was changed, except devices that were written before the
  /// error.
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
  std::vector<Change> updates_;  // for tensors of the pass
  std::vector<Change> rebinds_;
};

}  // namespace byre::inline BYRE_ABI::functional
