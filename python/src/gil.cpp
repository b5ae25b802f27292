// SPDX-License-Identifier: BSL-1.0
#include "gil.hpp"

#include <cxxabi.h>
#include <unistd.h>

namespace byre::inline v0::python {

GilReleased::~GilReleased() {
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    // A daemon thread, after the interpreter's end: it holds Python references that nobody may drop now.
    for (;;) {
      ::pause();
    }
  }
}

}  // namespace byre::inline v0::python
