// SPDX-License-Identifier: BSL-1.0
#include "errors.hpp"

#include <cstring>
#include <exception>
#include <string>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// The type of the errors that are no more than errors; the others are derived from it.
PyObject* base_type = nullptr;

/// Kept for good, as the translators are.
PyObject* make_type(py::module_& module, const char* name, const py::tuple& bases,
                    const char* documentation) {
  PyObject* const type = PyErr_NewExceptionWithDoc((std::string("byre.") + name).c_str(),
                                                   documentation, bases.ptr(), nullptr);
  if (type == nullptr) {
    throw py::error_already_set();
  }
  module.add_object(name, type);
  return type;
}

/// A text may be cut within a character, and name a file whose name is no UTF-8.
void set_error(PyObject* type, const char* text) noexcept {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (decoded != nullptr) {
    PyErr_SetObject(type, decoded);
    Py_DECREF(decoded);
  }
}

template <class CppError>
PyObject* type_of = nullptr;

/// Has `CppError` raised as a new type of these bases. What is defined later is looked at first: so an error comes
/// after the one that it is derived from.
template <class CppError>
void define(py::module_& module, const char* name, const py::tuple& bases,
            const char* documentation) {
  type_of<CppError> = make_type(module, name, bases, documentation);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const CppError& error) {
      set_error(type_of<CppError>, error.what());
    }
  });
}

/// The same of a type that is byre.Error and `kind`.
template <class CppError>
void define(py::module_& module, const char* name, PyObject* kind, const char* documentation) {
  define<CppError>(module, name, py::make_tuple(py::handle(base_type), py::handle(kind)),
                   documentation);
}

}  // namespace

py::object checked(PyObject* object) {
  if (object == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(object);
}

void define_errors(py::module_& module) {
  base_type = make_type(module, "Error", py::make_tuple(py::handle(PyExc_Exception)),
                        "Base of everything that byre raises.\n\n"
                        ">>> issubclass(byre.CopyRefused, byre.Error)\nTrue\n");
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_error(base_type, error.what());
    }
  });
  define<OutOfMemory>(
      module, "OutOfMemory", PyExc_MemoryError,
      "There is no memory for this; nothing changed.\n\n"
      ">>> try:\n...     byre.empty(1 << 60)\n"
      "... except MemoryError as error:\n...     issubclass(byre.OutOfMemory, MemoryError)\n"
      "True\n");
  define<FileError>(
      module, "FileError",
      py::make_tuple(py::handle(base_type), py::handle(PyExc_OSError),
                     py::handle(PyExc_ValueError)),
      "A file that is missing, unreadable, or not what it claims to be.\n\n"
      ">>> issubclass(byre.FileError, OSError) and issubclass(byre.FileError, ValueError)\nTrue\n");
  define<MissingFile>(
      module, "MissingFile",
      py::make_tuple(py::handle(type_of<FileError>), py::handle(PyExc_FileNotFoundError)),
      "A file that is not there.\n\n"
      ">>> try:\n...     byre.load('no such file.npy')\n"
      "... except FileNotFoundError as error:\n...     isinstance(error, byre.FileError)\nTrue\n");
  define<CopyRefused>(module, "CopyRefused", PyExc_RuntimeError,
                      "A copy that lazy=True or byre.no_copies() refuses.\n\n"
                      ">>> try:\n...     byre.copy(np.zeros(3), lazy=True)\n"
                      "... except byre.CopyRefused as error:\n"
                      "...     isinstance(error, RuntimeError)\nTrue\n");
  define<InvalidArgument>(module, "ArgumentError",
                          py::make_tuple(py::handle(base_type), py::handle(PyExc_ValueError),
                                         py::handle(PyExc_TypeError)),
                          "An argument of the wrong kind, or one that no call can serve.\n\n"
                          ">>> issubclass(byre.ArgumentError, TypeError)\nTrue\n");
}

}  // namespace byre::inline v0::python
