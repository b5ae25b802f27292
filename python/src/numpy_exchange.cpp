// SPDX-License-Identifier: BSL-1.0
#include "dtypes.hpp"
#include "errors.hpp"
#include "exchange.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// What NumPy has for the owner of the memory. It is no buffer, so that NumPy does not let anybody make an array
/// writable that was not from the beginning.
py::capsule owner_of(Pin&& pin) {
  auto held = std::make_unique<Pin>(std::move(pin));
  py::capsule capsule(held.get(), [](void* pin_to_drop) {
    delete static_cast<Pin*>(pin_to_drop);
    drain();
  });
  static_cast<void>(held.release());
  return capsule;
}

py::array as_numpy(const Tensor& tensor, ExportTo access, const char* operation) {
  if (tensor.dtype() == DType::bf16) {
    throw DTypeError(format_text(
        "%s of an array of bfloat16, which NumPy does not have. Convert it: x.astype('float32').",
        operation));
  }
  const std::vector<py::ssize_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<py::ssize_t> strides;
  for (const std::int64_t stride : tensor.strides()) {
    strides.push_back(stride * static_cast<py::ssize_t>(tensor.itemsize()));
  }
  Pin pin = pinned(tensor, access, operation);
  const void* const first = first_element(pin, tensor);
  py::array seen(numpy_dtype(tensor.dtype()), shape, strides, first, owner_of(std::move(pin)));
  if (access == ExportTo::read) {
    seen.attr("flags").attr("writeable") = false;
  }
  return seen;
}

/// For NumPy, which asks by this where it does not see a buffer.
py::object as_numpy_of(const Array& self, const py::object& dtype, const py::object& copy) {
  const py::array seen = as_numpy(self.tensor(), ExportTo::read, "__array__");
  const bool is_other = !dtype.is_none() && !seen.dtype().equal(py::dtype::from_args(dtype));
  if (is_other && copy.is(py::bool_(false))) {
    throw InvalidArgument(
        format_text("__array__ as another dtype without a copy, which cannot be. Leave out "
                    "copy=False, or the dtype."));
  }
  if (is_other) {
    return seen.attr("astype")(dtype);
  }
  return copy.is(py::bool_(true)) ? seen.attr("copy")() : py::object(seen);
}

py::object from_numpy(const py::object& argument) {
  if (!py::isinstance<py::array>(argument)) {
    throw OperandError(format_text(
        "from_numpy of an object of type %s. It takes a NumPy array; byre.from_dlpack() takes "
        "tensors of other libraries, and byre.array() copies anything.",
        Py_TYPE(argument.ptr())->tp_name));
  }
  const py::array source(argument);
  const DType dtype = dtype_of_elements(source.dtype());
  if (dtype == DType::uninitialized || !source.dtype().attr("isnative").cast<bool>()) {
    refuse_dtype(source.dtype());
  }
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  const auto nbytes_of_one = static_cast<std::int64_t>(itemsize(dtype));
  for (py::ssize_t axis = 0; axis < source.ndim(); ++axis) {
    if (source.shape(axis) > 1 && source.strides(axis) % nbytes_of_one != 0) {
      throw ShapeError(
          format_text("from_numpy: the stride of dimension %zd is %zd bytes, and elements have "
                      "%zu. Copy it: byre.array(x).",
                      axis, source.strides(axis), itemsize(dtype)));
    }
    shape.push_back(source.shape(axis));
    strides.push_back(source.strides(axis) / nbytes_of_one);
  }
  const dlpack::DLTensor seen{.data = const_cast<void*>(source.data()),
                              .device = {dlpack::kDLCPU, 0},
                              .ndim = static_cast<std::int32_t>(source.ndim()),
                              .dtype = dlpack_dtype(dtype),
                              .shape = shape.data(),
                              .strides = strides.data(),
                              .byte_offset = 0};
  const std::uint64_t flags = source.writeable() ? 0 : dlpack::DLPACK_FLAG_BITMASK_READ_ONLY;
  return wrapped(imported(seen, flags, source));
}

}  // namespace

void define_numpy_exchange(py::module_& module, ArrayClass& array) {
  array
      .def(
          "numpy",
          [](const Array& self, bool writable) {
            return as_numpy(self.tensor(), writable ? ExportTo::write : ExportTo::read, "numpy()");
          },
          py::kw_only(), py::arg("writable") = false,
          R"(A NumPy array of the same memory: no byte is copied.

It is read-only, and what is written to this array later does not show in it, unless others alias the memory already: an
array of byre.from_numpy(), or one that was given out to write. With writable=True it is an alias: each of the two sees
what is written to the other. Then elements that a lazy copy shares are copied first, and until the
NumPy array is gone a copy of this array is made at once, so that no other array sees what NumPy writes.

>>> x = byre.array([1, 2, 3])
>>> seen = x.numpy()
>>> x[0] = 7
>>> seen
array([1, 2, 3])
>>> alias = x.numpy(writable=True)
>>> alias[1] = 8
>>> x
array([7, 8, 3])
)")
      .def("__array__", as_numpy_of, py::arg("dtype") = py::none(), py::kw_only(),
           py::arg("copy") = py::none());
  module.def(
      "from_numpy", from_numpy, py::arg("array"),
      R"(An array of the memory of a NumPy array: no byte is copied, and each sees what is written to the other.

A copy of it is made at once, as NumPy may write the memory at any time. An array that NumPy does not let be written is
written by a copy. Strides that are negative are refused, and bytes of bools have to stay 0 or 1.

>>> import numpy as np
>>> theirs = np.array([1, 2, 3])
>>> ours = byre.from_numpy(theirs)
>>> ours[0] = 7
>>> theirs
array([7, 2, 3])
)");
}

}  // namespace byre::inline v0::python
