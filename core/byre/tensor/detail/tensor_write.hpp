// SPDX-License-Identifier: BSL-1.0
/// One write of a tensor's elements: its view family is checked, the storage is materialized, and the write is recorded
/// for byre/shadow once nothing can fail any more.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>

namespace byre::inline v0::detail {

/// Steps, in this order: constructor, materialize(), done(). A write that ends without done() was none. Refers to the
/// tensor, which keeps its sizes meanwhile.
class BYRE_API TensorWrite {
 public:
  /// Begins to write `nbytes` bytes of elements. `escapes`: through a raw pointer that the caller keeps. Throws
  /// ReshapeViolation.
  TensorWrite(Tensor& tensor, std::size_t nbytes, CallSite site, bool escapes = false);

  /// The first element of the tensor; the pages of the `written` elements, if any, are writable. Throws as
  /// Storage::mutable_data() and mutable_range().
  void* materialize(const Layout* written, Wait wait = Wait::allowed);

  /// Records the write. Throws ReshapeViolation if another view family wrote meanwhile.
  void done();

  /// All steps, for a write of all elements that cannot fail any more.
  static void* materialize_all(Tensor& tensor, CallSite site);

 private:
  Tensor* tensor_;
  shadow::detail::Access access_;
  bool is_recorded_;
};

}  // namespace byre::inline v0::detail
