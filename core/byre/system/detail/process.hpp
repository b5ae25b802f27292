// SPDX-License-Identifier: BSL-1.0
/// The process and its threads.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::system {

/// The number of the process. A forked child has another number than its parent.
BYRE_API std::uint64_t process_id() noexcept;

/// The name of the program, without folders, or "program" if it is unknown.
const char* program_name() noexcept;

/// The value of an environment variable. Null if the variable is not set, or if the program has
/// rights that its caller lacks (set-user-ID), because the caller chooses the value.
const char* trusted_variable(const char* name) noexcept;

/// The seconds of a monotonic clock that takes a few nanoseconds to read.
std::uint64_t seconds() noexcept;

/// Writes to the standard error stream. Async-signal-safe.
void write_to_stderr(const char* text, std::size_t nbytes) noexcept;

/// Calls `before` before each fork in the forking thread, and after it `in_parent` and `in_child`.
/// Does nothing on systems without forks, or if memory is lacking.
void watch_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// The number that the system's tools show for this thread, or 0 if it is unknown.
std::uint64_t thread_id() noexcept;

/// Writes the name of this thread, cut to `nbytes` including the final 0; "" if it is unknown.
void write_thread_name(char* name, std::size_t nbytes) noexcept;

/// A variable of each thread, with a function that the system calls at the end of each thread whose
/// value is not null. The system calls it after the destructors of thread-local objects, except on
/// WebAssembly, where the order is unspecified.
/// Thread-safe, but destroy() excludes all other calls.
class ThreadVariable {
 public:
  /// Takes a key of the system; has_key() returns false if all keys are in use.
  explicit ThreadVariable(void (*at_end)(void* value)) noexcept;

  bool has_key() const noexcept { return has_key_; }
  void* get() const noexcept;
  /// Returns false if memory is lacking.
  bool set(void* value) noexcept;
  /// Gives the key back. Values that threads have set are forgotten, except on Windows: there the
  /// function is called for each of them.
  void destroy() noexcept;

 private:
  std::uintptr_t key_ = 0;
  bool has_key_ = false;
};

// Only Windows defines these functions.

/// Whether the process ends. The system has then ended its other threads, which may hold locks.
bool process_ends() noexcept;

/// Whether the process continues while this library is unloaded. False if the library is part of
/// the program.
bool outlives_this_library() noexcept;

}  // namespace byre::inline BYRE_ABI::system
