// SPDX-License-Identifier: BSL-1.0
/// dtypes as Python names them: NumPy's where NumPy has them, and byre.bfloat16.
#pragma once

#include <byre/tensor/dtype.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace byre::inline v0::python {

/// What an array's `dtype` is: a numpy.dtype, or byre.bfloat16.
pybind11::object dtype_object(DType dtype);

/// NumPy's dtype that holds the values of `dtype`: float32 for bfloat16, which NumPy does not have.
pybind11::dtype numpy_dtype(DType dtype);

/// Of a name, a type, a numpy.dtype or byre.bfloat16. Throws DTypeError, which says what there is.
DType dtype_named(pybind11::handle name);

/// Of the elements of a NumPy array, in any byte order; DType::uninitialized for those that byre lacks.
DType dtype_of_elements(const pybind11::dtype& dtype);

/// Throws DTypeError, which says what there is.
[[noreturn]] void refuse_dtype(pybind11::handle dtype);

void define_dtypes(pybind11::module_& module);

}  // namespace byre::inline v0::python
