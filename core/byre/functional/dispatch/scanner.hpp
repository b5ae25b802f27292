// SPDX-License-Identifier: BSL-1.0
/// Scanner: splits a text, such as a schema, into words and constants. Errors point at the
/// offending word.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/argument.hpp>

#include <cstddef>
#include <string_view>

namespace byre::inline BYRE_ABI::functional {

/// A malformed text. what() contains the position, the line, and a mark below the position.
class BYRE_API SyntaxError : public Error {
 public:
  SyntaxError(const Text& text, std::size_t line, std::size_t column) noexcept
      : Error(text), line_(line), column_(column) {}
  /// Counted from 1, as is column().
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t line_;
  std::size_t column_;
};

/// A position in a text, which must outlive the scanner. Copy the scanner to return to a position
/// later.
///
/// - Blanks and line ends between words are skipped. `#` begins a comment that extends to the end
///   of the line.
/// - expect(), identifier(), constant(), expected() and refuse() throw SyntaxError. Only constant()
///   allocates memory.
/// - Cost: O(length of the word).
class BYRE_API Scanner {
 public:
  /// `source` names the text in errors: "schema", or a file name. It must outlive the scanner.
  Scanner(std::string_view text, std::string_view source) noexcept : text_(text), source_(source) {
    skip_blanks();
  }

  bool is_at_end() const noexcept { return at_ == text_.size(); }
  /// The next character, or 0 at the end.
  char peek() const noexcept { return is_at_end() ? '\0' : text_[at_]; }
  bool is_at(std::string_view word) const noexcept { return text_.substr(at_).starts_with(word); }
  bool is_at_identifier() const noexcept;
  bool is_at_number() const noexcept;
  std::size_t position() const noexcept { return at_; }

  /// Skips `word` if it is next. Returns whether it was.
  bool accept(std::string_view word) noexcept;
  void expect(std::string_view word);
  /// Reads letters, digits and `_`, beginning with a letter or `_`. `what` describes the identifier
  /// in errors.
  std::string_view identifier(std::string_view what);
  /// Reads a number, true, false, none, a dtype or a list of integers, in the notation of
  /// to_string(Constant). Throws OutOfMemory.
  Constant constant();

  /// These members throw SyntaxError at `position`, or at the next word if there is no `position`.
  /// The message of expected() is "expected `what`, found ...".
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void refuse(std::string_view message) const { refuse(message, at_); }
  [[noreturn]] void refuse(std::string_view message, std::size_t position) const;

 private:
  void skip_blanks() noexcept;
  Scalar number(bool is_integer = false);

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace byre::inline BYRE_ABI::functional
