// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "dtypes.hpp"
#include "errors.hpp"

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

py::ssize_t length(const Array& array) {
  if (array.tensor().ndim() == 0) {
    throw OperandError(format_text(
        "len() of an array of no dimensions, which has one element. Use x.item() for that."));
  }
  return static_cast<py::ssize_t>(array.tensor().sizes()[0]);
}

py::object iterator(const py::object& self) {
  if (self.cast<const Array&>().tensor().ndim() == 0) {
    throw OperandError(format_text(
        "iteration over an array of no dimensions, which has one element. Use x.item() for that."));
  }
  return checked(PySeqIter_New(self.ptr()));
}

}  // namespace

void define_attributes(ArrayClass& array) {
  array
      .def_property_readonly(
          "shape", [](const Array& self) { return tuple_of(self.tensor().sizes()); },
          "The size of each dimension.\n\n>>> byre.zeros((2, 3)).shape\n(2, 3)\n")
      .def_property_readonly(
          "strides",
          [](const Array& self) {
            return tuple_of(self.tensor().strides(),
                            static_cast<std::int64_t>(self.tensor().itemsize()));
          },
          "The bytes between two elements along each dimension; never negative.\n\n"
          ">>> byre.zeros((2, 3)).strides\n(24, 8)\n")
      .def_property_readonly(
          "ndim", [](const Array& self) { return self.tensor().ndim(); },
          "How many dimensions there are.\n\n>>> byre.zeros((2, 3)).ndim\n2\n")
      .def_property_readonly(
          "size", [](const Array& self) { return self.tensor().numel(); },
          "How many elements there are.\n\n>>> byre.zeros((2, 3)).size\n6\n")
      .def_property_readonly(
          "itemsize", [](const Array& self) { return self.tensor().itemsize(); },
          "Bytes of an element.\n\n>>> byre.zeros((2, 3)).itemsize\n8\n")
      .def_property_readonly(
          "nbytes", [](const Array& self) { return self.tensor().nbytes(); },
          "Bytes of all elements.\n\n>>> byre.zeros((2, 3)).nbytes\n48\n")
      .def_property_readonly(
          "dtype", [](const Array& self) { return dtype_object(self.tensor().dtype()); },
          "What the elements are: a numpy.dtype, or byre.bfloat16, which NumPy does not have.\n\n"
          ">>> byre.zeros(2, 'float32').dtype\ndtype('float32')\n")
      .def("__len__", length)
      .def("__iter__", iterator);
  // Of NumPy's operators: an array of NumPy's beside one of these is an operand of these.
  array.attr("__array_priority__") = 1000.0;
}

}  // namespace byre::inline v0::python
