// SPDX-License-Identifier: BSL-1.0
// What tests of the module need and users do not: names that begin with an underscore.
#include "array.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "later.hpp"

#include <byre/tensor/devices.hpp>
#include <byre/tensor/states.hpp>

#include <string>
#include <thread>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// What memory that ends on a thread without the interpreter's lock does.
void release_on_a_thread(const py::object& object) {
  PyObject* const reference = object.inc_ref().ptr();
  const GilReleased released;
  std::thread([reference] { release_later(reference); }).join();
}

template <class CppError>
void throw_if_named(const std::string& name, const char* named) {
  if (name == named) {
    throw CppError(format_text("of the test"));
  }
}

void throw_error(const std::string& name) {
  throw_if_named<OutOfMemory>(name, "OutOfMemory");
  throw_if_named<ShapeError>(name, "ShapeError");
  throw_if_named<DTypeError>(name, "DTypeError");
  throw_if_named<StateError>(name, "StateError");
  throw_if_named<InvalidArgument>(name, "InvalidArgument");
  throw_if_named<FileError>(name, "FileError");
  throw_if_named<MissingFile>(name, "MissingFile");
  throw_if_named<NotABuffer>(name, "NotABuffer");
  throw_if_named<NotUnique>(name, "NotUnique");
  throw_if_named<DeviceError>(name, "DeviceError");
  throw_if_named<IndexingError>(name, "IndexingError");
  throw_if_named<OperandError>(name, "OperandError");
  throw_if_named<CopyRefused>(name, "CopyRefused");
  throw Error(format_text("of the test"));
}

}  // namespace

void define_for_tests(py::module_& module) {
  module.def("_release_on_a_thread", release_on_a_thread);
  module.def("_throw", throw_error);
  module.def("_gil_releases", GilReleased::count);
}

}  // namespace byre::inline v0::python
