// SPDX-License-Identifier: BSL-1.0
/// Python references that are released later: by a thread that holds the interpreter's lock and no
/// stripe of locks.hpp. Memory of Python objects that byre borrowed is let go by this.
#pragma once

#include <Python.h>

namespace byre::inline v0::python {

/// Takes over one reference, which drain() drops. From any thread, with or without the interpreter's
/// lock; takes a lock that is held for a few instructions. Without memory for the note, and after the
/// interpreter's end, the reference is kept for good.
void release_later(PyObject* reference) noexcept;

/// Drops the references taken so far, which may run Python code. By a thread that holds the interpreter's
/// lock and no stripe. One load where there is nothing to drop.
void drain() noexcept;

/// Drains at the end of the scope, whatever else ends with it.
class DrainAtEnd {
 public:
  DrainAtEnd() noexcept = default;
  ~DrainAtEnd() { drain(); }
  DrainAtEnd(const DrainAtEnd&) = delete;
  DrainAtEnd& operator=(const DrainAtEnd&) = delete;
};

/// What a fork calls, in this order, with all stripes held.
void hold_later_over_fork() noexcept;
void continue_later_in_parent() noexcept;
void renew_later_in_child() noexcept;

}  // namespace byre::inline v0::python
