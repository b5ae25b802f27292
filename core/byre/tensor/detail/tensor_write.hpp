// SPDX-License-Identifier: BSL-1.0
/// TensorWrite: the steps of one write to a tensor's elements. The steps check the view family,
/// materialize the storage, and record the write for byre/shadow after the last step that can fail.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI::detail {

/// Call the constructor, materialize() and done(), in this order. If done() is not called, no write
/// is recorded. The tensor must exist and retain its sizes until done() returns.
class BYRE_API TensorWrite {
 public:
  /// Begins a write of `nbytes` bytes of elements. `escapes` is true if the caller may retain the
  /// pointer and write through it later. In ReshapeMode::error, throws ReshapeViolation if another
  /// view family has written elements that this family has not observed.
  TensorWrite(Tensor& tensor, std::size_t nbytes, CallSite site, bool escapes = false);

  /// Materializes the storage and returns the first element of the tensor. If the storage is in
  /// pages and `written` is not null, also makes the pages of the elements of `written` writable.
  /// Throws the errors of Storage::mutable_data() and Storage::mutable_range().
  void* materialize(const Layout* written, Wait wait = Wait::allowed);

  /// Records the write. In ReshapeMode::error, throws ReshapeViolation if another view family has
  /// written since the constructor returned.
  void done();

  /// Performs all steps of a write to all elements and returns the first element. Also realizes the
  /// tensor. Requires that the caller's write of the elements cannot fail.
  static void* materialize_all(Tensor& tensor, CallSite site);

 private:
  Tensor* tensor_;
  shadow::detail::Access access_;
  bool is_recorded_;
};

}  // namespace byre::inline BYRE_ABI::detail
