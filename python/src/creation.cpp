// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "dtypes.hpp"
#include "errors.hpp"
#include "locks.hpp"

#include <byre/memory/paged.hpp>
#include <byre/tensor/elements.hpp>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

Allocator& allocator_of(bool pages) {
  return pages ? paged_allocator() : default_allocator();
}

std::optional<DType> dtype_of_argument(py::handle dtype) {
  return dtype.is_none() ? std::nullopt : std::optional(dtype_named(dtype));
}

py::object array(const py::object& source, const py::object& dtype, bool pages) {
  return wrapped(tensor_of(source, dtype_of_argument(dtype), allocator_of(pages)));
}

/// The bytes that sizes ask for, or as many as there can be: no more than whether they are many.
std::size_t nbytes_of(const Dims& sizes, DType dtype) noexcept {
  std::size_t nbytes = itemsize(dtype);
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(nbytes, static_cast<std::size_t>(size), &nbytes)) {
      return most_nbytes_under_gil + 1;
    }
  }
  return nbytes;
}

py::object empty(const py::object& shape, const py::object& dtype, bool pages) {
  const Dims sizes = dims_of(shape, "empty");
  const DType of_elements = dtype_named(dtype);
  // Large memory may be populated now.
  return wrapped(reading({}, nbytes_of(sizes, of_elements),
                         [&] { return Tensor::empty(sizes, of_elements, allocator_of(pages)); }));
}

Tensor filled(const Dims& sizes, DType dtype, bool pages, const Scalar& value) {
  return reading({}, nbytes_of(sizes, dtype), [&] {
    Tensor made = Tensor::empty(sizes, dtype, allocator_of(pages));
    fill_(made, value);
    return made;
  });
}

py::object zeros(const py::object& shape, const py::object& dtype, bool pages) {
  const Dims sizes = dims_of(shape, "zeros");
  const DType of_elements = dtype_named(dtype);
  if (pages) {
    return wrapped(filled(sizes, of_elements, pages, Scalar(false)));
  }
  return wrapped(reading({}, nbytes_of(sizes, of_elements),
                         [&] { return Tensor::zeros(sizes, of_elements); }));
}

/// What NumPy takes for a number of Python: f64 and not f32, which a Scalar has alone.
DType dtype_of_number(const Scalar& number) noexcept {
  const DType alone = number.dtype_alone();
  return alone == DType::f32 ? DType::f64 : alone;
}

py::object full(const py::object& shape, const py::object& value, const py::object& dtype,
                bool pages) {
  const Dims sizes = dims_of(shape, "full");
  const auto number = number_of(value);
  if (!number) {
    throw OperandError(
        format_text("full with a value of type %s. It takes a number; for anything else, make an "
                    "array by byre.empty() and assign x[...] = value.",
                    Py_TYPE(value.ptr())->tp_name));
  }
  const DType of_elements = dtype_of_argument(dtype).value_or(dtype_of_number(*number));
  return wrapped(filled(sizes, of_elements, pages, *number));
}

}  // namespace

void define_creation(py::module_& module) {
  const auto dtype = py::arg("dtype");
  const auto pages = py::arg("pages") = false;
  module.def("array", array, py::arg("source"), dtype = py::none(), py::kw_only(), pages,
             R"(An array of what `source` has: nested lists, a number, bytes, a NumPy array.

The elements are copied now, and lazily where `source` is a byre.Array of this dtype. With pages=True a large
array has memory of which later copies share each page until it is written.

>>> byre.array([[1, 2], [3, 4]], dtype='float32')
array([[1., 2.],
       [3., 4.]], dtype=float32)
>>> byre.array(b'abc')
array([97, 98, 99], dtype=uint8)
)");
  module.def("empty", empty, py::arg("shape"), dtype = "float64", py::kw_only(), pages,
             R"(An array whose elements are whatever its memory had.

>>> byre.empty((2, 3), 'int16').shape
(2, 3)
)");
  module.def("zeros", zeros, py::arg("shape"), dtype = "float64", py::kw_only(), pages,
             R"(An array of zeros.

>>> byre.zeros(3)
array([0., 0., 0.])
)");
  module.def("full", full, py::arg("shape"), py::arg("fill_value"), dtype = py::none(),
             py::kw_only(), pages,
             R"(An array of one number.

>>> byre.full((1, 2), 7)
array([[7, 7]])
)");
}

}  // namespace byre::inline v0::python
