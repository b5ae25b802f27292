// SPDX-License-Identifier: BSL-1.0
/// TensorWrite: the steps of one write to a tensor's elements. They check the view family,
/// materialize the storage, and record the write for byre/shadow after the last step that can fail.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>

namespace byre::inline v0::detail {

/// Call the constructor, materialize() and done(), in this order. Without done() no write is
/// recorded. It refers to the tensor, which must exist and retain its sizes until then.
class BYRE_API TensorWrite {
 public:
  /// Begins a write of `nbytes` bytes of elements. `escapes`: the caller retains the pointer and
  /// may write through it later. Throws ReshapeViolation.
  TensorWrite(Tensor& tensor, std::size_t nbytes, CallSite site, bool escapes = false);

  /// Materializes the storage and returns the first element of the tensor. If `written` is not
  /// null, also makes the pages of these elements writable. Throws as Storage::mutable_data() and
  /// mutable_range().
  void* materialize(const Layout* written, Wait wait = Wait::allowed);

  /// Records the write. Throws ReshapeViolation if another view family wrote in between.
  void done();

  /// All steps, to write all elements; returns the first. Requires that the caller's write cannot
  /// fail.
  static void* materialize_all(Tensor& tensor, CallSite site);

 private:
  Tensor* tensor_;
  shadow::detail::Access access_;
  bool is_recorded_;
};

}  // namespace byre::inline v0::detail
