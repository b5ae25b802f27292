// SPDX-License-Identifier: BSL-1.0
// The extension byre._byre, which the Python files of byre use. It raises the errors in
// byre/_errors.py.
#include "module.hpp"

#include <byre/error/error.hpp>
#include <byre/ipc/exported_pages.hpp>

#include <cstring>
#include <exception>

namespace py = pybind11;

namespace byre::inline BYRE_ABI::python {
namespace {

/// Decodes with replacement: a text may be cut within a character, or quote the name of a file that
/// is not UTF-8.
void raise(const char* type, const char* text) {
  const py::object decoded =
      checked(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
  PyErr_SetObject(py::module_::import("byre._errors").attr(type).ptr(), decoded.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const FileError& error) {
    raise("FileError", error.what());
  } catch (const OutOfMemory& error) {
    raise("OutOfMemory", error.what());
  } catch (const TransferError& error) {
    raise("TransferError", error.what());
  } catch (const InvalidArgument& error) {
    raise("ArgumentError", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  }
}

}  // namespace

py::object checked(PyObject* object) {
  if (object == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(object);
}

PYBIND11_MODULE(_byre, module) {
  py::register_exception_translator(&translate);
  define_arrays(module);
  define_copies(module);
  define_files(module);
  define_memory(module);
  define_transfers(module);
}

}  // namespace byre::inline BYRE_ABI::python
