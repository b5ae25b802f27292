// SPDX-License-Identifier: BSL-1.0
/// The interpreter's lock, released for a scope.
#pragma once

#include <Python.h>

#include <cxxabi.h>
#include <unistd.h>

namespace byre::inline v0::python {

/// Releases the lock, which the calling thread holds, until the end of the scope. A daemon thread that returns to an
/// interpreter that has ended stops for good, as in Python 3.14: older ones unwind the thread, and the unwinding would
/// end the process in a destructor.
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

}  // namespace byre::inline v0::python
