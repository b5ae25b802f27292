// SPDX-License-Identifier: BSL-1.0
#include "dtypes.hpp"

#include "array.hpp"

#include <array>
#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

struct Named {
  DType dtype;
  const char* name;
};
constexpr std::array<Named, detail::dtype_count> names{{{DType::boolean, "bool"},
                                                        {DType::u8, "uint8"},
                                                        {DType::i8, "int8"},
                                                        {DType::i16, "int16"},
                                                        {DType::i32, "int32"},
                                                        {DType::i64, "int64"},
                                                        {DType::f16, "float16"},
                                                        {DType::bf16, "bfloat16"},
                                                        {DType::f32, "float32"},
                                                        {DType::f64, "float64"},
                                                        {DType::complex64, "complex64"}}};

/// What byre.bfloat16 is.
struct BFloat16Type {};

/// By DType; borrowed from the module, which is never unloaded.
std::array<PyObject*, detail::dtype_count> objects{};

py::handle object_of(DType dtype) {
  return objects[static_cast<std::size_t>(dtype)];
}

}  // namespace

py::object dtype_object(DType dtype) {
  return py::reinterpret_borrow<py::object>(object_of(dtype));
}

py::dtype numpy_dtype(DType dtype) {
  return py::reinterpret_borrow<py::dtype>(object_of(dtype == DType::bf16 ? DType::f32 : dtype));
}

void refuse_dtype(py::handle dtype) {
  std::string known;
  for (const Named& named : names) {
    known += known.empty() ? "" : ", ";
    known += named.name;
  }
  throw DTypeError(format_text("byre has no dtype %s. It has %s.",
                               py::str(dtype).cast<std::string>().c_str(), known.c_str()));
}

DType dtype_of_elements(const py::dtype& dtype) {
  for (const Named& named : names) {
    if (named.dtype != DType::bf16) {
      const auto known = numpy_dtype(named.dtype);
      if (dtype.kind() == known.kind() && dtype.itemsize() == known.itemsize()) {
        return named.dtype;
      }
    }
  }
  return DType::uninitialized;
}

DType dtype_named(py::handle name) {
  if (name.is(object_of(DType::bf16)) ||
      (py::isinstance<py::str>(name) && name.cast<std::string>() == "bfloat16")) {
    return DType::bf16;
  }
  py::object dtype;
  try {
    dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(name));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) {
      throw;
    }
    refuse_dtype(name);
  }
  const DType found = dtype_of_elements(dtype);
  if (found == DType::uninitialized || !dtype.attr("isnative").cast<bool>()) {
    refuse_dtype(dtype);
  }
  return found;
}

void define_dtypes(py::module_& module) {
  py::class_<BFloat16Type> type(module, "BFloat16Type", R"(The type of byre.bfloat16.

NumPy has no bfloat16: the upper half of a float32. Arrays of it go to NumPy as float32.

>>> byre.zeros(2, byre.bfloat16).dtype
bfloat16
)");
  type.def_property_readonly(
          "name", [](const BFloat16Type&) { return "bfloat16"; },
          "The name, which byre takes for a dtype.\n\n>>> byre.bfloat16.name\n'bfloat16'\n")
      .def_property_readonly(
          "itemsize", [](const BFloat16Type&) { return itemsize(DType::bf16); },
          "Bytes of an element.\n\n>>> byre.bfloat16.itemsize\n2\n")
      .def("__repr__", [](const BFloat16Type&) { return "bfloat16"; })
      .def("__reduce__", [](const BFloat16Type&) { return "bfloat16"; })
      // There is one, which is its own copy.
      .def("__copy__", [](const py::object& self) { return self; })
      .def("__deepcopy__", [](const py::object& self, const py::object&) { return self; });
  type.attr("__module__") = "byre";
  forbid_new(type);
  for (const Named& named : names) {
    const py::object object = named.dtype == DType::bf16
                                  ? py::cast(BFloat16Type{})
                                  : py::object(py::dtype(std::string(named.name)));
    module.attr(named.dtype == DType::boolean ? "bool_" : named.name) = object;
    // The module may lose its name for it, and the arrays need it.
    objects[static_cast<std::size_t>(named.dtype)] = object.inc_ref().ptr();
  }
}

}  // namespace byre::inline v0::python
