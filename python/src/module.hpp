// SPDX-License-Identifier: BSL-1.0
/// The parts of the module, and what they share.
#pragma once

#include "blocks.hpp"

#include <byre/error/error.hpp>

#include <pybind11/pybind11.h>

#include <cstddef>

namespace byre::inline v0::python {

/// A file that does not exist.
class MissingFile : public FileError {
 public:
  using FileError::FileError;
};

/// A new reference that Python's C functions returned. Throws the error that they set if it is null.
pybind11::object checked(PyObject* object);

/// An array that owns a new block: of all its bytes, as uint8. With `like`, an array of type numpy.ndarray in `source`,
/// it lies in the block where that lies in its own, and has its shape, strides and dtype. Ends the block if there is no
/// memory for the array.
pybind11::object array_in(Block& block, const Block* source = nullptr, pybind11::handle like = {});

void define_arrays(pybind11::module_& module);
void define_copies(pybind11::module_& module);
void define_files(pybind11::module_& module);

}  // namespace byre::inline v0::python
