// SPDX-License-Identifier: BSL-1.0
#include "gil.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>

namespace byre::inline v0::python {
namespace {

constinit std::atomic<std::uint64_t> releases = 0;

}  // namespace

GilReleased::GilReleased() noexcept : state_(PyEval_SaveThread()) {
  releases.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t GilReleased::count() noexcept {
  return releases.load(std::memory_order_relaxed);
}

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
