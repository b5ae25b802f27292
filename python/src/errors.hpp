// SPDX-License-Identifier: BSL-1.0
/// Errors of byre as Python's: each is a byre.Error and of the kind that NumPy raises.
#pragma once

#include <byre/error/error.hpp>

#include <pybind11/pybind11.h>

#include <exception>

namespace byre::inline v0::python {

/// A file that is not there. FileNotFoundError, and a FileError.
class MissingFile : public FileError {
 public:
  using FileError::FileError;
};

/// A copy that lazy=True or byre.no_copies() refuses. RuntimeError.
class CopyRefused : public Error {
 public:
  using Error::Error;
};

/// A new reference that Python's C functions returned. Throws the error that they set where it is null.
pybind11::object checked(PyObject* object);

/// Adds the types, and has errors of byre raised as them.
void define_errors(pybind11::module_& module);

}  // namespace byre::inline v0::python
