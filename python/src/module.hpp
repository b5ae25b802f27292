// SPDX-License-Identifier: BSL-1.0
/// The parts of the module, and what they share.
#pragma once

#include "blocks.hpp"

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <unistd.h>

namespace byre::inline v0::python {

/// A new reference that Python's C functions returned. Throws the error that they set if it is null.
pybind11::object checked(PyObject* object);

/// Releases the interpreter's lock, which the calling thread holds, until the end of the scope. A daemon thread that
/// returns to an interpreter that has ended stops for good, as in Python 3.14: older ones unwind the thread, and the
/// unwinding would end the process in a destructor.
class GilReleased {
 public:
  GilReleased() noexcept : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;) {
        ::pause();
      }
    }
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

/// An array that owns a new block: of all its bytes, as uint8. With `like`, an array of type numpy.ndarray in `source`,
/// it lies in the block where that lies in its own, and has its shape, strides and dtype. Ends the block if there is no
/// memory for the array.
pybind11::object array_in(Block& block, const Block* source = nullptr, pybind11::handle like = {});

void define_arrays(pybind11::module_& module);
void define_copies(pybind11::module_& module);
void define_files(pybind11::module_& module);

}  // namespace byre::inline v0::python
