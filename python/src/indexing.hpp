// SPDX-License-Identifier: BSL-1.0
/// NumPy's basic indexing: ints, slices, an ellipsis and None, which make views. What NumPy makes copies of
/// is refused.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <pybind11/pybind11.h>

namespace byre::inline v0::python {

struct Selection {
  Tensor view;
  /// Each dimension was given an int: NumPy answers with the element then, and not with a view of it.
  bool is_element;
};

/// Throws IndexingError for an index that is out of range or of another kind, ShapeError for a step that is
/// negative.
Selection selected(const Tensor& tensor, pybind11::handle key);

}  // namespace byre::inline v0::python
