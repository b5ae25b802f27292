// SPDX-License-Identifier: BSL-1.0
/// Errors of byre as those of byre/_errors.py.
#pragma once

#include <byre/error/error.hpp>

#include <pybind11/pybind11.h>

namespace byre::inline v0::python {

/// A file that does not exist.
class MissingFile : public FileError {
 public:
  using FileError::FileError;
};

/// A new reference that Python's C functions returned. Throws the error that they set if it is null.
pybind11::object checked(PyObject* object);

/// Has errors of byre raised, and adds their types.
void define_errors(pybind11::module_& module);

}  // namespace byre::inline v0::python
