// SPDX-License-Identifier: BSL-1.0
/// Scanner: reads schemas and programs, word by word, and points at what it cannot read.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/argument.hpp>

#include <cstddef>
#include <string_view>

namespace byre::inline v0::functional {

/// A text that is not what it should be. what() has the place, the line, and a mark below it.
class BYRE_API SyntaxError : public Error {
 public:
  SyntaxError(const Text& text, std::size_t line, std::size_t column) noexcept
      : Error(text), line_(line), column_(column) {}
  /// Both counted from 1.
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t line_;
  std::size_t column_;
};

/// A place in a text that outlives it: a copy is a place to come back to. Blanks and line ends between words are
/// skipped. `#` begins a comment, to the end of the line. An unexpected word throws SyntaxError. Only constant() takes
/// memory.
class BYRE_API Scanner {
 public:
  /// `source` is what errors call the text: "schema", or the name of a file.
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

  /// Whether `word` is next; passes it.
  bool accept(std::string_view word) noexcept;
  void expect(std::string_view word);
  /// Letters, digits and _, but no digit first. Errors call it `what`.
  std::string_view identifier(std::string_view what);
  /// A number, true, false, none, a dtype or a list of integers, as to_string(Constant) writes
  /// them. Throws OutOfMemory.
  Constant constant();

  /// Throws SyntaxError, at the next word or at `position`: "expected `what`, found ...".
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

}  // namespace byre::inline v0::functional
