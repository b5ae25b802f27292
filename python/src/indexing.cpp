// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"

#include "array.hpp"
#include "errors.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <utility>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

bool is_ellipsis(py::handle index) {
  return index.is(py::handle(Py_Ellipsis));
}

bool is_array(py::handle index) {
  return PyBool_Check(index.ptr()) || py::isinstance<py::list>(index) ||
         py::isinstance<py::array>(index) || py::isinstance<Array>(index);
}

/// Follows the indices of a key from the first dimension to the last.
class Selector {
 public:
  Selector(const Tensor& tensor, const py::tuple& key) : view_(tensor.alias()) {
    for (const py::handle index : key) {
      count(index);
    }
    if (used_ > tensor.ndim()) {
      throw IndexingError(format_text("%zu indices of an array of %zu dimensions. Leave out some.",
                                      used_, tensor.ndim()));
    }
    for (const py::handle index : key) {
      follow(index, tensor.ndim());
    }
  }

  /// With an ellipsis, NumPy answers with a view of the element.
  Selection selection() && { return {view_, !has_ellipsis_ && view_.ndim() == 0}; }

 private:
  void count(py::handle index) {
    if (is_array(index)) {
      throw IndexingError(
          format_text("An index of type %s, which chooses elements one by one. byre has views "
                      "alone: take x.numpy()[...], or a slice.",
                      Py_TYPE(index.ptr())->tp_name));
    }
    if (is_ellipsis(index)) {
      if (has_ellipsis_) {
        throw IndexingError(
            format_text("More than one ellipsis (...) in an index. It stands for all dimensions "
                        "that are not named: write one."));
      }
      has_ellipsis_ = true;
    } else if (!index.is_none()) {
      ++used_;
    }
  }

  void follow(py::handle index, std::size_t ndim) {
    if (index.is_none()) {
      view_ = view_.unsqueeze(axis_++);
    } else if (is_ellipsis(index)) {
      axis_ += static_cast<std::int64_t>(ndim - used_);
      at_ += ndim - used_;
    } else if (PySlice_Check(index.ptr())) {
      slice(index);
    } else if (PyIndex_Check(index.ptr()) != 0) {
      select(index);
    } else {
      throw IndexingError(format_text(
          "An index of type %s. Indices are ints, slices (:), an ellipsis (...) and None.",
          Py_TYPE(index.ptr())->tp_name));
    }
  }

  void select(py::handle index) {
    const Py_ssize_t position = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
    if (position == -1 && PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    const std::int64_t size = this->size();
    if (position < -size || position >= size) {
      throw IndexingError(format_text(
          "index %lld is out of range for axis %zu of size %lld. Indices are from %lld to %lld.",
          static_cast<long long>(position), at_, static_cast<long long>(size),
          static_cast<long long>(-size), static_cast<long long>(size - 1)));
    }
    view_ = view_.select(axis_, position);
    ++at_;
  }

  void slice(py::handle index) {
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    if (PySlice_Unpack(index.ptr(), &start, &stop, &step) != 0) {
      throw py::error_already_set();
    }
    if (step < 0) {
      throw ShapeError(
          format_text("A slice of step %lld. Strides are never negative: byre.flip(x, axis) makes "
                      "a copy in reverse order.",
                      static_cast<long long>(step)));
    }
    PySlice_AdjustIndices(static_cast<Py_ssize_t>(size()), &start, &stop, step);
    view_ = view_.slice(axis_, start, stop, step);
    ++axis_;
    ++at_;
  }

  std::int64_t size() const { return view_.sizes()[static_cast<std::size_t>(axis_)]; }

  Tensor view_;
  std::int64_t axis_ = 0;  // of the view so far
  std::size_t at_ = 0;     // of the array, for messages
  std::size_t used_ = 0;   // dimensions that indices are for
  bool has_ellipsis_ = false;
};

}  // namespace

Selection selected(const Tensor& tensor, py::handle key) {
  return Selector(tensor, py::isinstance<py::tuple>(key) ? py::reinterpret_borrow<py::tuple>(key)
                                                         : py::make_tuple(key))
      .selection();
}

}  // namespace byre::inline v0::python
