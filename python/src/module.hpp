// SPDX-License-Identifier: BSL-1.0
/// The parts of the module.
#pragma once

#include <pybind11/pybind11.h>

namespace byre::inline v0::python {

void define_copies(pybind11::module_& module);
void define_files(pybind11::module_& module);

}  // namespace byre::inline v0::python
