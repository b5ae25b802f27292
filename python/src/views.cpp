// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "errors.hpp"

#include <algorithm>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

// Views need no stripe: they are made of what a tensor is, and count a handle of its storage.

Tensor reversed(const Tensor& tensor) {
  Dims axes;
  for (std::size_t axis = tensor.ndim(); axis > 0; --axis) {
    axes.push_back(static_cast<std::int64_t>(axis - 1));
  }
  return tensor.permute(axes);
}

py::object transpose(const Array& self, const py::args& axes) {
  const bool is_reversed = axes.empty() || (axes.size() == 1 && axes[0].is_none());
  return wrapped(is_reversed ? reversed(self.tensor())
                             : self.tensor().permute(dims_of_arguments(axes, "transpose")));
}

/// Axes as numbers from 0 on, the last first. Throws ShapeError for one that is not there or named twice.
std::vector<std::size_t> axes_from_the_last(const Dims& axes, std::size_t ndim,
                                            const char* operation) {
  std::vector<std::size_t> wrapped;
  for (const std::int64_t axis : axes) {
    wrapped.push_back(byre::detail::wrap_axis(axis, ndim, operation));
  }
  std::sort(wrapped.rbegin(), wrapped.rend());
  if (std::adjacent_find(wrapped.begin(), wrapped.end()) != wrapped.end()) {
    throw ShapeError(format_text("%s: an axis of %s is named twice. Name it once.", operation,
                                 to_string(axes).c_str()));
  }
  return wrapped;
}

py::object squeeze(const Array& self, const py::object& axis) {
  Tensor tensor = self.tensor();
  if (axis.is_none()) {
    return wrapped(tensor.squeeze());
  }
  Tensor squeezed = tensor.alias();
  for (const std::size_t each :
       axes_from_the_last(dims_of(axis, "squeeze"), tensor.ndim(), "squeeze")) {
    // Of no dimensions, NumPy takes 0 for an axis of one.
    if (tensor.ndim() != 0 && tensor.sizes()[each] != 1) {
      throw ShapeError(
          format_text("squeeze: axis %zu of sizes %s has a size other than 1. Take one element of "
                      "it by an index.",
                      each, to_string(tensor.sizes()).c_str()));
    }
    squeezed = squeezed.squeeze(static_cast<std::int64_t>(each));
  }
  return wrapped(std::move(squeezed));
}

py::object broadcast_to(const py::object& source, const py::object& shape) {
  const Tensor tensor = array_operand_of(source, "broadcast_to");
  const Dims sizes = dims_of(shape, "broadcast_to");
  // expand() takes -1 for a size that stays, and NumPy for a mistake.
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; })) {
    throw ShapeError(
        format_text("broadcast_to of sizes %s: sizes are not negative.", to_string(sizes).c_str()));
  }
  return wrapped(tensor.expand(sizes));
}

}  // namespace

void define_views(py::module_& module, ArrayClass& array) {
  array
      .def_property_readonly(
          "T", [](const Array& self) { return wrapped(reversed(self.tensor())); },
          "A view with the dimensions in reverse order.\n\n>>> byre.zeros((2, 3)).T.shape\n(3, "
          "2)\n")
      .def("transpose", transpose,
           "A view with the dimensions in the order of the axes given, or in reverse order.\n\n"
           ">>> byre.zeros((2, 3, 4)).transpose(1, 0, 2).shape\n(3, 2, 4)\n")
      .def("permute", transpose,
           "The same as transpose().\n\n"
           ">>> byre.zeros((2, 3, 4)).permute((2, 0, 1)).shape\n(4, 2, 3)\n")
      .def(
          "swapaxes",
          [](const Array& self, std::int64_t axis1, std::int64_t axis2) {
            if (self.tensor().ndim() == 0) {
              byre::detail::no_such_axis(axis1, 0, "swapaxes");
            }
            return wrapped(self.tensor().transpose(axis1, axis2));
          },
          py::arg("axis1"), py::arg("axis2"),
          "A view with two dimensions exchanged.\n\n"
          ">>> byre.zeros((2, 3, 4)).swapaxes(0, 2).shape\n(4, 3, 2)\n")
      .def("squeeze", squeeze, py::arg("axis") = py::none(),
           "A view without dimensions of size 1: all of them, or those given.\n\n"
           ">>> byre.zeros((1, 3, 1)).squeeze(0).shape\n(3, 1)\n")
      .def(
          "expand_dims",
          [](const Array& self, std::int64_t axis) {
            return wrapped(self.tensor().unsqueeze(axis));
          },
          py::arg("axis"),
          "A view with a dimension of size 1 more, which is `axis`.\n\n"
          ">>> byre.zeros((2, 3)).expand_dims(1).shape\n(2, 1, 3)\n")
      .def(
          "diagonal",
          [](const Array& self, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
            return wrapped(self.tensor().diagonal(offset, axis1, axis2));
          },
          py::arg("offset") = 0, py::arg("axis1") = 0, py::arg("axis2") = 1,
          "A view of the diagonal of two dimensions, as a new last one.\n\n"
          ">>> byre.array([[1, 2], [3, 4]]).diagonal()\narray([1, 4])\n");
  module.def(
      "broadcast_to", broadcast_to, py::arg("array"), py::arg("shape"),
      "A view in which dimensions of size 1, and new ones in front, repeat elements.\n\n"
      "It cannot be written; a copy of it can.\n\n"
      ">>> byre.broadcast_to(byre.array([1, 2]), (2, 2))\narray([[1, 2],\n       [1, 2]])\n");
}

}  // namespace byre::inline v0::python
