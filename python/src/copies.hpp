// SPDX-License-Identifier: BSL-1.0
/// byre.no_copies(): within it, an operation that would copy bytes nobody asked to copy raises instead,
/// before anything changed. It holds for the calling thread, or rather for its context, as contextvars are.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <pybind11/pybind11.h>

namespace byre::inline v0::python {

/// Whether a write to data that others share, or that is read-only, copies the pages that it touches and no others.
bool copies_pages_alone(const Storage& storage) noexcept;

/// Whether copies are refused, asked before an operation, while holding the interpreter's lock. Its
/// members are called with the stripe of the tensor held, and throw CopyRefused, which names `operation`.
class CopyRule {
 public:
  CopyRule();

  /// A write copies what other owners share and what is read-only; in pages only those that it touches,
  /// which is allowed.
  void before_write(const Tensor& written, const char* operation) const;
  /// A lazy clone copies memory that others may write.
  void before_clone(const Tensor& source, const char* operation) const;
  /// A lazy clone under other sizes, one of which may be -1, copies where strides cannot say them.
  void before_reshape(const Tensor& source, const Dims& sizes, const char* operation) const;
  /// A copy that this operation makes for want of another way.
  void before_copy(const Tensor& source, const char* operation, const char* why) const;

 private:
  const bool refuses_;
};

void define_no_copies(pybind11::module_& module);

}  // namespace byre::inline v0::python
