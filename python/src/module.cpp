// SPDX-License-Identifier: BSL-1.0
// The extension byre._byre, on which the Python files of byre stand.
#include "module.hpp"

#include "arrays.hpp"
#include "collapser.hpp"
#include "errors.hpp"

namespace py = pybind11;
using namespace byre::python;

PYBIND11_MODULE(_byre, module) {
  define_errors(module);
  define_statistics(module);
  define_handler(module);
  define_copies(module);
  define_files(module);
  // A thread that ends with the process would be stopped within a block.
  py::module_::import("atexit").attr("register")(module.attr("_end_collapsing"));
}
