// SPDX-License-Identifier: BSL-1.0
/// The errors byre throws, and its warnings. Each error is thrown before anything changed, and its text says what was
/// asked, what was found and what to do instead.
#pragma once

#include <array>
#include <byre/config.hpp>
#include <cstddef>
#include <exception>

namespace byre::inline v0 {

/// The text of an error or a warning, kept in place so that reporting that memory is exhausted
/// needs none. A text that does not fit ends in "...".
struct Text {
  std::array<char, 1024> chars;
};

/// printf, into a Text. Never allocates.
[[gnu::format(printf, 1, 2)]] BYRE_API Text format_text(const char* format, ...) noexcept;

/// Base of everything byre throws.
class BYRE_API Error : public std::exception {
 public:
  explicit Error(const Text& text) noexcept : text_(text) {}
  const char* what() const noexcept override { return text_.chars.data(); }

 private:
  Text text_;
};

/// Memory could not be had: nothing changed. No function of byre's throws std::bad_alloc: what the standard
/// library throws within, or a function of the user's that byre calls, leaves byre as this. What is made of
/// that library's vectors, strings and functions, as a Graph, a Schema and a Program are, is copied as those are.
class BYRE_API OutOfMemory : public Error {
 public:
  using Error::Error;
  /// `nbytes` were asked of `who` (an allocator's name).
  OutOfMemory(std::size_t nbytes, const char* who) noexcept;
  /// The heap had too little for `operation`, which did not say how much it wanted.
  static OutOfMemory of_heap(const char* operation) noexcept;
};

/// An argument no call can serve: a null pointer to some bytes, a size no object can have.
class BYRE_API InvalidArgument : public Error {
 public:
  using Error::Error;
  /// A size that overflows once the header is added.
  static InvalidArgument size_overflow(std::size_t nbytes, std::size_t largest) noexcept;
  /// Memory was adopted with a deleter that cannot be called.
  static InvalidArgument null_deleter() noexcept;
  /// `call` was given a null pointer to `nbytes` bytes.
  static InvalidArgument null_pointer(const char* call, std::size_t nbytes) noexcept;
};

/// The operation needs data that nobody else shares.
class BYRE_API NotUnique : public Error {
 public:
  using Error::Error;
};

/// A file is missing, unreadable, empty, not a file, or not what it claims to be.
class BYRE_API FileError : public Error {
 public:
  using Error::Error;
};

/// A block made more copies than it was allowed; see stats/expect.hpp.
class BYRE_API TooManyCopies : public Error {
 public:
  using Error::Error;
};

// Warnings are what byre has to say where throwing would be wrong. They go to one handler per process,
// which writes to stderr until the user installs another.

/// Called with a text that is valid during the call. May be called from several threads at once and
/// must not throw.
using WarningHandler = void (*)(const char* text) noexcept;

/// Installs `handler` (null: the default, stderr) and returns the one before. Thread-safe.
BYRE_API WarningHandler set_warning_handler(WarningHandler handler) noexcept;

/// Hands a printf-style text to the handler. Thread-safe.
[[gnu::format(printf, 1, 2)]] BYRE_API void warn(const char* format, ...) noexcept;

}  // namespace byre::inline v0
