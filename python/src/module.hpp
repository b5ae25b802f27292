// SPDX-License-Identifier: BSL-1.0
/// The parts of the extension, and the functions that they share.
#pragma once

#include "blocks.hpp"

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace byre::inline BYRE_ABI::python {

/// A new reference that a C function of Python returned. If it is null, throws the error that the
/// function has set.
pybind11::object checked(PyObject* object);

/// Releases the interpreter's lock, which the calling thread holds, until the end of the scope. If
/// a daemon thread returns to an interpreter that has ended, the thread stops for good, as in
/// Python 3.14. Older versions unwind the thread, which would end the process in a destructor.
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

/// The block that begins at an address. Throws InvalidArgument if no block begins there.
std::shared_ptr<Block> expect_block(std::uintptr_t start);

/// The site of a line, whose file's name lives until the process ends.
CallSite site_of(const std::string& file, unsigned line);

/// An array that owns a new block, with all its bytes as uint8. If `like` is an array of type
/// numpy.ndarray in `source`, the result has its shape, strides, dtype and position in the block
/// instead. Removes the block if there is no memory for the array.
pybind11::object array_in(Block& block, const Block* source = nullptr, pybind11::handle like = {});

void define_arrays(pybind11::module_& module);
void define_copies(pybind11::module_& module);
void define_files(pybind11::module_& module);
void define_memory(pybind11::module_& module);
void define_transfers(pybind11::module_& module);

}  // namespace byre::inline BYRE_ABI::python
