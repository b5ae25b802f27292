// SPDX-License-Identifier: BSL-1.0
/// The interpreter's lock, released for a while. A thread that comes back to an interpreter that has
/// ended stops for good, where Python would unwind it through code that must not be.
#pragma once

#include <Python.h>

#include <cstdint>

namespace byre::inline v0::python {

/// Releases the lock, which the calling thread holds, and takes it back at the end of the scope.
class GilReleased {
 public:
  GilReleased() noexcept;
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

  /// How often it was released so far, for tests. Any thread may ask.
  static std::uint64_t count() noexcept;

 private:
  PyThreadState* const state_;
};

}  // namespace byre::inline v0::python
