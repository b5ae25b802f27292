// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "dtypes.hpp"
#include "errors.hpp"
#include "exchange.hpp"

#include <complex>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// Kept for good, as the module is.
py::handle numpy_generic() {
  // No guarded initialization: one waits for the other where an import releases the interpreter's lock.
  static PyObject* type = nullptr;
  if (type == nullptr) {
    type = py::module_::import("numpy").attr("generic").cast<py::object>().release().ptr();
  }
  return type;
}

Scalar number_of_int(py::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    throw DTypeError(
        format_text("An int of more than 64 bits is no element of any dtype. Take a float."));
  }
  return Scalar(value);
}

py::array numpy_array_of(py::handle source, std::optional<DType> dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  if (py::isinstance<py::bytes>(source)) {
    return numpy.attr("frombuffer")(source, py::dtype::of<std::uint8_t>());
  }
  // NumPy converts what byre has no dtype for; else byre does, on every machine in the same way.
  const bool is_numpys =
      py::isinstance<py::array>(source) || py::isinstance(source, numpy_generic());
  if (!dtype || *dtype == DType::bf16 ||
      (is_numpys && dtype_of_elements(py::dtype(source.attr("dtype"))) != DType::uninitialized)) {
    return numpy.attr("asarray")(source);
  }
  return numpy.attr("asarray")(source, numpy_dtype(*dtype));
}

}  // namespace

std::optional<Scalar> number_of(py::handle number) {
  if (PyBool_Check(number.ptr())) {
    return Scalar(number.is(py::handle(Py_True)));
  }
  if (PyLong_Check(number.ptr())) {
    return number_of_int(number);
  }
  if (PyFloat_Check(number.ptr())) {
    return Scalar(PyFloat_AS_DOUBLE(number.ptr()));
  }
  if (PyComplex_Check(number.ptr())) {
    const Py_complex value = PyComplex_AsCComplex(number.ptr());
    return Scalar(
        std::complex<float>(static_cast<float>(value.real), static_cast<float>(value.imag)));
  }
  if (py::isinstance(number, numpy_generic())) {
    const py::object item = number.attr("item")();
    // Of some types the item is such a scalar itself, and no number.
    return py::isinstance(item, numpy_generic()) ? std::nullopt : number_of(item);
  }
  return std::nullopt;
}

Tensor tensor_of(py::handle source, std::optional<DType> dtype, Allocator& allocator) {
  if (py::isinstance<Array>(source)) {
    const Tensor tensor = source.cast<const Array&>().tensor();
    const bool is_lazy = (!dtype || *dtype == tensor.dtype()) && &allocator == &default_allocator();
    return is_lazy ? copied(tensor, "array")
                   : converted(tensor, dtype.value_or(tensor.dtype()), allocator);
  }
  py::array elements;
  try {
    elements = numpy_array_of(source, dtype);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError) || !py::hasattr(source, "__dlpack__")) {
      throw;
    }
    // Of another library, with elements that NumPy lacks, as bfloat16.
    const Tensor tensor =
        tensor_of_dlpack(py::reinterpret_borrow<py::object>(source), std::nullopt);
    return converted(tensor, dtype.value_or(tensor.dtype()), allocator);
  }
  if (!dtype || *dtype == dtype_of_elements(elements.dtype())) {
    return tensor_of_numpy(elements, allocator);
  }
  return converted(tensor_of_numpy(elements, default_allocator()), *dtype, allocator);
}

std::optional<Operand> operand_of(py::handle source) {
  if (py::isinstance<Array>(source)) {
    return source.cast<const Array&>().tensor();
  }
  if (const auto number = number_of(source)) {
    return *number;
  }
  if (py::isinstance<py::array>(source) || py::isinstance<py::list>(source) ||
      py::isinstance<py::tuple>(source)) {
    return tensor_of(source, std::nullopt, default_allocator());
  }
  return std::nullopt;
}

Tensor array_operand_of(py::handle source, const char* operation) {
  const auto operand = operand_of(source);
  if (!operand) {
    throw OperandError(format_text(
        "%s of an object of type %s. It takes arrays, and what byre.array() makes arrays of.",
        operation, Py_TYPE(source.ptr())->tp_name));
  }
  if (const Tensor* tensor = std::get_if<Tensor>(&*operand)) {
    return *tensor;
  }
  // As byre.array() would make one of it.
  return tensor_of(source, std::nullopt, default_allocator());
}

}  // namespace byre::inline v0::python
