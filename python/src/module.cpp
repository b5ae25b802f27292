// SPDX-License-Identifier: BSL-1.0
// The extension byre._byre, on which the Python files of byre stand.
#include "module.hpp"

#include "arrays.hpp"
#include "errors.hpp"

using namespace byre::python;

PYBIND11_MODULE(_byre, module) {
  define_errors(module);
  define_handler(module);
  define_copies(module);
  define_files(module);
}
