// SPDX-License-Identifier: BSL-1.0
/// Errors of byre as Python's: each is a byre.Error and of the kind that NumPy raises. And the errors that
/// only the module has.
#pragma once

#include <byre/error/error.hpp>

#include <pybind11/pybind11.h>

#include <exception>

namespace byre::inline v0::python {

/// An index that is out of range, or of a kind that an array does not take. IndexError, as NumPy's.
class IndexingError : public Error {
 public:
  using Error::Error;
};

/// An argument that is no array, no number, or not of the kind that an operation takes. TypeError, as
/// NumPy's.
class OperandError : public Error {
 public:
  using Error::Error;
};

/// A file that is not there. FileNotFoundError, and a FileError.
class MissingFile : public FileError {
 public:
  using FileError::FileError;
};

/// A copy that nobody asked for by name, where byre.no_copies() refuses those. RuntimeError.
class CopyRefused : public Error {
 public:
  using Error::Error;
};

/// An array that cannot be seen as a consumer asks. BufferError.
class NotABuffer : public Error {
 public:
  using Error::Error;
};

/// Sets Python's error indicator, as for what a function throws. For calls that Python makes by itself.
void raise_in_python(std::exception_ptr thrown) noexcept;

/// A new reference that Python's C functions returned. Throws the error that they set where it is null.
pybind11::object checked(PyObject* object);

/// Adds the types, and has errors of byre raised as them.
void define_errors(pybind11::module_& module);

}  // namespace byre::inline v0::python
