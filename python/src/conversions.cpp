// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "dtypes.hpp"
#include "errors.hpp"
#include "locks.hpp"

#include <byre/tensor/elements.hpp>

#include <pybind11/complex.h>

#include <complex>
#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// The element of an array that has one. Throws `Refusal`, as NumPy does.
template <class Refusal = ShapeError>
py::object item(const Array& array, const char* operation) {
  const Tensor& tensor = array.tensor();
  if (tensor.numel() != 1) {
    throw Refusal(format_text(
        "%s of an array of sizes %s, which has %lld elements and not one. Choose an element: "
        "x[index].",
        operation, to_string(tensor.sizes()).c_str(), static_cast<long long>(tensor.numel())));
  }
  return numpy_copy(tensor).attr("item")();
}

/// As NumPy's, of which `function` is array_repr or array_str.
std::string text_of(const Array& array, const char* function) {
  const py::module_ numpy = py::module_::import("numpy");
  auto text = numpy.attr(function)(numpy_copy(array.tensor())).cast<std::string>();
  if (array.tensor().dtype() == DType::bf16) {
    if (const auto at = text.rfind("float32"); at != std::string::npos) {
      text.replace(at, 7, "bfloat16");
    }
  }
  return text;
}

/// The elements in C order.
py::bytes bytes_of(const Tensor& tensor) {
  const py::bytes bytes =
      checked(PyBytes_FromStringAndSize(nullptr, static_cast<py::ssize_t>(tensor.nbytes())));
  copy_to(PyBytes_AS_STRING(bytes.ptr()), tensor, tensor.dtype());
  return bytes;
}

py::tuple reduced(const Array& array) {
  const Tensor& tensor = array.tensor();
  return py::make_tuple(
      py::module_::import("byre").attr("_unpickled"),
      py::make_tuple(bytes_of(tensor), tuple_of(tensor.sizes()), dtype_object(tensor.dtype())));
}

py::object unpickled(const py::bytes& bytes, const py::object& shape, const py::object& dtype) {
  const Dims sizes = dims_of(shape, "unpickling");
  const DType of_elements = dtype_named(dtype);
  const auto nbytes = static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()));
  const void* const from = PyBytes_AS_STRING(bytes.ptr());
  return wrapped(reading({}, nbytes, [&] {
    Tensor tensor = Tensor::empty(sizes, of_elements == DType::boolean ? DType::u8 : of_elements);
    if (tensor.nbytes() != nbytes) {
      throw ShapeError(
          format_text("unpickling %zu bytes as %s elements of sizes %s, which are %zu bytes. The "
                      "pickle is damaged.",
                      nbytes, name_of(of_elements), to_string(sizes).c_str(), tensor.nbytes()));
    }
    tensor.allocator().copy(tensor.mutable_raw_data(), from, nbytes);
    // Which refuses what is no bool.
    return of_elements == DType::boolean ? Tensor::over(tensor.storage(), sizes, of_elements)
                                         : tensor;
  }));
}

}  // namespace

void define_conversions(py::module_& module, ArrayClass& array) {
  array
      .def(
          "item", [](const Array& self) { return item(self, "item()"); },
          "The only element, as a number of Python.\n\n>>> byre.array([[7]]).item()\n7\n")
      .def(
          "tolist", [](const Array& self) { return numpy_copy(self.tensor()).attr("tolist")(); },
          "The elements as nested lists.\n\n>>> byre.array([[1, 2], [3, 4]]).tolist()\n"
          "[[1, 2], [3, 4]]\n")
      .def(
          "tobytes", [](const Array& self) { return bytes_of(self.tensor()); },
          "The bytes of the elements in row-major order, copied.\n\n"
          ">>> byre.array([1, 2], 'int8').tobytes()\nb'\\x01\\x02'\n")
      .def("__bool__", [](const Array& self) { return item(self, "bool()").cast<bool>(); })
      .def("__int__",
           [](const Array& self) {
             return checked(PyNumber_Long(item<OperandError>(self, "int()").ptr()));
           })
      .def("__float__",
           [](const Array& self) {
             return checked(PyNumber_Float(item<OperandError>(self, "float()").ptr()));
           })
      .def("__complex__",
           [](const Array& self) {
             return item<OperandError>(self, "complex()").cast<std::complex<double>>();
           })
      .def("__repr__", [](const Array& self) { return text_of(self, "array_repr"); })
      .def("__str__", [](const Array& self) { return text_of(self, "array_str"); })
      .def("__reduce__", reduced);
  module.def("_unpickled", unpickled);
}

}  // namespace byre::inline v0::python
