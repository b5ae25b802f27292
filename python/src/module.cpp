// SPDX-License-Identifier: BSL-1.0
// The extension byre._byre, on which the Python files of byre stand.
#include "module.hpp"

#include "arrays.hpp"
#include "collapser.hpp"
#include "errors.hpp"

namespace py = pybind11;
using namespace byre::python;

namespace {

/// Handlers of memory and of forks are the process's, and arrays may move between interpreters.
void expect_main_interpreter() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw py::import_error(
        "byre cannot be imported in a subinterpreter, as its blocks are shared by the process. "
        "Import it in the main "
        "interpreter, or start a process.");
  }
}

}  // namespace

PYBIND11_MODULE(_byre, module) {
  expect_main_interpreter();
  define_errors(module);
  define_statistics(module);
  define_handler(module);
  define_copies(module);
  define_files(module);
  // A thread that ends with the process would be stopped within a block.
  py::module_::import("atexit").attr("register")(module.attr("_end_collapsing"));
}
