// SPDX-License-Identifier: BSL-1.0
#include "array.hpp"
#include "copies.hpp"
#include "errors.hpp"
#include "locks.hpp"

#include <byre/stats/events.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/layout.hpp>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// Anything with __index__, but no bool: a size or an axis of True is a mistake.
std::optional<std::int64_t> integer_of(py::handle number) {
  if (PyBool_Check(number.ptr()) || PyIndex_Check(number.ptr()) == 0) {
    return std::nullopt;
  }
  const Py_ssize_t value = PyNumber_AsSsize_t(number.ptr(), PyExc_ValueError);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return value;
}

[[noreturn]] void refuse_number(py::handle number, const char* operation) {
  throw OperandError(format_text(
      "%s: sizes and axes are ints, or a tuple or list of ints, and this is of type %s.", operation,
      Py_TYPE(number.ptr())->tp_name));
}

}  // namespace

py::object wrapped(Tensor tensor) {
  return py::cast(Array(std::move(tensor)));
}

void forbid_new(py::handle type) {
  auto& slot = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new;
  slot = [](PyTypeObject* self, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError,
                 "objects of type %s are made by functions of byre, as byre.array()",
                 self->tp_name);
    return nullptr;
  };
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type.ptr()));
}

Dims dims_of(py::handle numbers, const char* operation) {
  if (const auto number = integer_of(numbers)) {
    return Dims{*number};
  }
  if (!py::isinstance<py::tuple>(numbers) && !py::isinstance<py::list>(numbers)) {
    refuse_number(numbers, operation);
  }
  Dims dims;
  // A list may be changed by the __index__ of an element.
  const py::tuple held(py::reinterpret_borrow<py::object>(numbers));
  for (const py::handle item : held) {
    const auto number = integer_of(item);
    if (!number) {
      refuse_number(item, operation);
    }
    dims.push_back(*number);
  }
  return dims;
}

Dims dims_of_arguments(const py::args& numbers, const char* operation) {
  return numbers.size() == 1 ? dims_of(numbers[0], operation) : dims_of(numbers, operation);
}

py::tuple tuple_of(const Dims& dims, std::int64_t factor) {
  py::tuple tuple(dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    tuple[axis] = dims[axis] * factor;
  }
  return tuple;
}

Tensor copy_of_seen(const Tensor& tensor) {
  Tensor copy = tensor.clone();
  stats::detail::report_copy(
      tensor.nbytes(),
      tensor.storage().is_pinned() ? stats::CopyCause::pinned : stats::CopyCause::borrowed,
      CallSite::current());
  return copy;
}

Tensor copied(const Tensor& tensor, const char* operation) {
  const CopyRule rule;
  if (may_overlap_itself(tensor.layout())) {
    return reading({&tensor}, tensor.nbytes(), [&] {
      rule.before_copy(tensor, operation, "as a broadcast repeats them");
      return tensor.clone();
    });
  }
  return cloning(tensor, [&] {
    rule.before_clone(tensor, operation);
    return is_copied_by_clone(tensor.storage()) ? copy_of_seen(tensor) : tensor.lazy_clone();
  });
}

Tensor converted(const Tensor& tensor, DType dtype, Allocator& allocator) {
  return reading({&tensor}, tensor.nbytes(), [&] {
    Tensor made = Tensor::empty(tensor.sizes(), dtype, allocator);
    copy_(made, tensor);
    return made;
  });
}

}  // namespace byre::inline v0::python
