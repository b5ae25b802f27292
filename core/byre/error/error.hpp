// SPDX-License-Identifier: BSL-1.0
/// The errors that byre throws, and its warnings. Unless a function states otherwise, it throws
/// before it has changed anything. Each text states what failed, the actual and the allowed value,
/// and what to do instead.
#pragma once

#include <array>
#include <byre/config.hpp>
#include <cstddef>
#include <exception>

namespace byre::inline BYRE_ABI {

/// The text of an error or a warning. It is stored in place, because an error that reports
/// exhausted memory cannot allocate. A longer text is cut and ends in "...".
struct Text {
  std::array<char, 1024> chars;
};

/// Formats as printf does. Allocates nothing.
[[gnu::format(BYRE_PRINTF, 1, 2)]] BYRE_API Text format_text(const char* format, ...) noexcept;

/// Base class of everything that byre throws.
class BYRE_API Error : public std::exception {
 public:
  explicit Error(const Text& text) noexcept : text_(text) {}
  const char* what() const noexcept override { return text_.chars.data(); }

 private:
  Text text_;
};

/// Memory is exhausted; nothing has changed. Byre never lets std::bad_alloc escape: if the standard
/// library or a callback of the user throws std::bad_alloc inside a call of byre, the caller
/// receives an OutOfMemory. Copying a type that consists of standard vectors, strings and functions
/// (Graph, Schema, Program) is the exception: the copy throws what copies of its members throw.
class BYRE_API OutOfMemory : public Error {
 public:
  using Error::Error;
  /// An allocator could not provide `nbytes`; `allocator` is its name.
  OutOfMemory(std::size_t nbytes, const char* allocator) noexcept;
  /// The heap has too little memory for `operation`; the number of bytes is unknown.
  static OutOfMemory of_heap(const char* operation) noexcept;
};

/// An argument that is invalid in every call, such as a null pointer to a nonzero number of bytes,
/// or a size that no object can have.
class BYRE_API InvalidArgument : public Error {
 public:
  using Error::Error;
  /// `nbytes` plus the header would exceed `largest`.
  static InvalidArgument size_overflow(std::size_t nbytes, std::size_t largest) noexcept;
  /// Memory was adopted with an empty deleter.
  static InvalidArgument null_deleter() noexcept;
  /// `call` received a null pointer to `nbytes` bytes.
  static InvalidArgument null_pointer(const char* call, std::size_t nbytes) noexcept;
};

/// The operation requires unique data (one owner, and no thread that still copies the data), but
/// the data is shared.
class BYRE_API NotUnique : public Error {
 public:
  using Error::Error;
};

/// A file is missing, unreadable, empty, not a regular file, or not in the expected format.
class BYRE_API FileError : public Error {
 public:
  using Error::Error;
};

/// A block of code made more copies than allowed; see observe/expect.hpp.
class BYRE_API TooManyCopies : public Error {
 public:
  using Error::Error;
};

// Warnings report problems in places where throwing would be wrong, such as destructors. The
// process has one handler of warnings, which writes to stderr until the user installs another.

/// Receives a text that is valid only during the call. Several threads may call it at the same
/// time; it must not throw.
using WarningHandler = void (*)(const char* text) noexcept;

/// Installs `handler`, or the default (stderr) if it is null, and returns the previous handler.
/// Thread-safe.
BYRE_API WarningHandler set_warning_handler(WarningHandler handler) noexcept;

/// Formats as printf does, and passes the text to the handler. Thread-safe.
[[gnu::format(BYRE_PRINTF, 1, 2)]] BYRE_API void warn(const char* format, ...) noexcept;

}  // namespace byre::inline BYRE_ABI
