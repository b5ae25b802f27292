// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "copies.hpp"
#include "dtypes.hpp"
#include "locks.hpp"

#include <byre/tensor/layout.hpp>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

Tensor reshaped(const Tensor& tensor, const Dims& sizes, const char* operation) {
  const CopyRule rule;
  return locked(
      StripeSet({&tensor}, {}), 0,
      [&] {
        rule.before_reshape(tensor, sizes, operation);
        return (is_copied_by_clone(tensor.storage()) ? copy_of_seen(tensor) : tensor)
            .reshape(sizes);
      },
      [&] {
        return is_small(tensor) || (!is_copied_by_clone(tensor.storage()) &&
                                    viewed_as(tensor.layout(), sizes, operation));
      });
}

py::object astype(const Array& self, const py::object& dtype) {
  const DType wanted = dtype_named(dtype);
  const Tensor tensor = self.tensor();
  return wrapped(wanted == tensor.dtype() ? copied(tensor, "astype")
                                          : converted(tensor, wanted, default_allocator()));
}

}  // namespace

void define_copies(py::module_& module, ArrayClass& array) {
  const auto copy = [](const Array& self) { return wrapped(copied(self.tensor(), "copy")); };
  const auto flatten = [](const Array& self) {
    return wrapped(reshaped(self.tensor(), Dims{-1}, "flatten"));
  };
  array
      .def(
          "copy", copy,
          "A lazy copy: no byte is copied until one of the two is written.\n\n"
          "It has the strides that this array has, and keeps all memory that this is a view of.\n\n"
          ">>> x = byre.array([1, 2])\n>>> y = x.copy()\n>>> y[0] = 7\n>>> x, y\n"
          "(array([1, 2]), array([7, 2]))\n")
      .def("__copy__", copy)
      .def("__deepcopy__", [copy](const Array& self, const py::object&) { return copy(self); })
      .def(
          "reshape",
          [](const Array& self, const py::args& shape) {
            return wrapped(reshaped(self.tensor(), dims_of_arguments(shape, "reshape"), "reshape"));
          },
          "A lazy copy under other sizes, one of which may be -1.\n\n"
          "No view, as in NumPy it may be: a write to one of the two never shows in the other. "
          "Where strides\n"
          "cannot say the sizes, the elements are copied now.\n\n"
          ">>> x = byre.array([1, 2, 3, 4])\n>>> y = x.reshape(2, -1)\n>>> y[0, 0] = 7\n>>> x\n"
          "array([1, 2, 3, 4])\n")
      .def("ravel", flatten,
           "A lazy copy of one dimension: reshape(-1).\n\n"
           ">>> byre.array([[1, 2], [3, 4]]).ravel()\narray([1, 2, 3, 4])\n")
      .def("flatten", flatten,
           "The same as ravel().\n\n"
           ">>> byre.array([[1, 2], [3, 4]]).flatten()\narray([1, 2, 3, 4])\n")
      .def("astype", astype, py::arg("dtype"),
           "A copy of another dtype; a lazy one of the same.\n\n"
           "Floating-point numbers are truncated to integers, saturating, with 0 for not a number, "
           "on every\n"
           "machine.\n\n"
           ">>> byre.array([1.5, -2.5, 1e20]).astype('int16')\narray([    1,    -2, 32767], "
           "dtype=int16)\n");
  module.def(
      "copy",
      [](const py::object& source) {
        return wrapped(tensor_of(source, std::nullopt, default_allocator()));
      },
      py::arg("array"),
      "A lazy copy of an array: see Array.copy. Of anything else, what byre.array() makes of "
      "it.\n\n"
      ">>> x = byre.zeros(1_000_000)\n>>> before = byre.stats()\n>>> y = byre.copy(x)\n"
      ">>> (byre.stats() - before).bytes_copied\n0\n");
}

}  // namespace byre::inline v0::python
