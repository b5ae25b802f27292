// SPDX-License-Identifier: BSL-1.0
#include "errors.hpp"

#include <byre/shadow/report.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/states.hpp>

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

void raise_in_python(std::exception_ptr thrown) noexcept {
  for (const auto& translate : py::detail::get_internals().registered_exception_translators) {
    try {
      translate(thrown);
      return;
    } catch (...) {
      thrown = std::current_exception();
    }
  }
}

py::object checked(PyObject* object) {
  if (object == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(object);
}

void define_errors(py::module_& module) {
  base_type = make_type(module, "Error", py::make_tuple(py::handle(PyExc_Exception)),
                        "Base of everything that byre raises.\n\n"
                        ">>> issubclass(byre.ShapeError, byre.Error)\nTrue\n");
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
      ">>> try:\n...     byre.empty(1 << 60, 'uint8')\n"
      "... except MemoryError as error:\n...     isinstance(error, byre.OutOfMemory)\n"
      "True\n");
  define<ShapeError>(module, "ShapeError", PyExc_ValueError,
                     "Sizes or axes that do not fit the array, or each other.\n\n"
                     ">>> try:\n...     byre.zeros(3).reshape(2)\n"
                     "... except byre.ShapeError as error:\n...     isinstance(error, ValueError)\n"
                     "True\n");
  define<DTypeError>(module, "DTypeError", PyExc_TypeError,
                     "A dtype that byre lacks, or that an operation has no meaning for.\n\n"
                     ">>> try:\n...     byre.zeros(3, 'uint16')\n"
                     "... except byre.DTypeError as error:\n...     isinstance(error, TypeError)\n"
                     "True\n");
  define<StateError>(module, "StateError", PyExc_ValueError,
                     "An array that has no memory yet.\n\n"
                     ">>> issubclass(byre.StateError, ValueError)\nTrue\n");
  define<InvalidArgument>(module, "InvalidArgument", PyExc_ValueError,
                          "An argument that no call can serve.\n\n"
                          ">>> issubclass(byre.InvalidArgument, ValueError)\nTrue\n");
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
  define<NotUnique>(module, "NotUnique", PyExc_BufferError,
                    "The operation needs data that nobody else shares.\n\n"
                    ">>> issubclass(byre.NotUnique, BufferError)\nTrue\n");
  define<DeviceError>(module, "DeviceError", PyExc_ValueError,
                      "A device that there is not, or that lacks an operation.\n\n"
                      ">>> issubclass(byre.DeviceError, ValueError)\nTrue\n");
  define<shadow::ReshapeViolation>(
      module, "ReshapeViolation", PyExc_RuntimeError,
      "Something relied on a reshape being a view, where BYRE_RESHAPE=error.\n\n"
      ">>> issubclass(byre.ReshapeViolation, RuntimeError)\nTrue\n");
  define<IndexingError>(module, "IndexingError", PyExc_IndexError,
                        "An index that is out of range, or of a kind that arrays do not take.\n\n"
                        ">>> try:\n...     byre.zeros(3)[3]\n"
                        "... except byre.IndexingError as error:\n"
                        "...     isinstance(error, IndexError)\nTrue\n");
  define<OperandError>(module, "OperandError", PyExc_TypeError,
                       "An argument that is no array, no number, or of the wrong kind.\n\n"
                       ">>> try:\n...     byre.exp('x')\n"
                       "... except byre.OperandError as error:\n"
                       "...     isinstance(error, TypeError)\nTrue\n");
  define<NotABuffer>(module, "NotABuffer", PyExc_BufferError,
                     "An array that cannot be seen as another library asks.\n\n"
                     ">>> try:\n...     memoryview(byre.zeros(2, byre.bfloat16))\n"
                     "... except BufferError as error:\n"
                     "...     isinstance(error, byre.NotABuffer)\nTrue\n");
  define<CopyRefused>(module, "CopyRefused", PyExc_RuntimeError,
                      "A copy that nobody asked for by name, within byre.no_copies().\n\n"
                      ">>> x = byre.zeros(3)\n>>> y = x.copy()\n>>> try:\n"
                      "...     with byre.no_copies():\n...         x[0] = 1\n"
                      "... except byre.CopyRefused as error:\n"
                      "...     isinstance(error, RuntimeError)\nTrue\n");
}

}  // namespace byre::inline v0::python
