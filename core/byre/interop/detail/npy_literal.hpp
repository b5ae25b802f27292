// SPDX-License-Identifier: BSL-1.0
/// Reads, from left to right, the few Python literals in .npy headers. The reader is strict: it
/// rejects text that NumPy does not write, and reports the position of the text.
#pragma once

#include <byre/interop/detail/format.hpp>
#include <byre/tensor/dims.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace byre::inline BYRE_ABI::detail {

/// Each member skips spaces first, and throws FileError, which names the source, if the text is not
/// of the form that the member reads.
class PythonLiteral {
 public:
  /// The text must outlive this object.
  PythonLiteral(std::string_view text, const char* source) noexcept
      : text_(text), source_(source) {}

  /// at() returns whether `token` is next; take() also skips it.
  bool at(char token) noexcept {
    skip_spaces();
    return position_ < text_.size() && text_[position_] == token;
  }

  bool take(char token) noexcept {
    const bool is_next = at(token);
    position_ += is_next ? 1 : 0;
    return is_next;
  }

  void expect(char token) {
    if (!take(token)) {
      const char wanted[] = {'\'', token, '\'', '\0'};
      refuse_here(wanted);
    }
  }

  void expect_end() {
    skip_spaces();
    if (position_ != text_.size()) {
      refuse_here("the end of the header");
    }
  }

  /// A string in either kind of quotes, without escapes.
  std::string_view string() {
    const char quote = at('"') ? '"' : '\'';
    if (!take(quote)) {
      refuse_here("a string");
    }
    const std::size_t end = text_.find(quote, position_);
    const std::string_view value = text_.substr(position_, end - position_);
    if (end == text_.npos || value.find('\\') != value.npos) {
      refuse_here("a string without escapes, and its closing quote");
    }
    position_ = end + 1;
    return value;
  }

  bool boolean() {
    const bool value = take_word("True");
    if (!value && !take_word("False")) {
      refuse_here("True or False");
    }
    return value;
  }

  /// A tuple of at most `most` integers.
  Dims integers(std::size_t most) {
    Dims values;
    expect('(');
    while (!take(')')) {
      if (values.size() == most) {
        refuse_npy(source_, format_text("it has more than %zu dimensions", most),
                   "Save it with fewer: array.reshape(-1).");
      }
      values.push_back(integer());
      if (!take(',')) {
        expect(')');
        if (values.size() == 1) {
          refuse_here("',' before the ')' of a tuple of one");
        }
        break;
      }
    }
    return values;
  }

  /// refuse() throws FileError with `found`; refuse_value() quotes the value after it.
  [[noreturn]] void refuse(const char* found, const char* advice) const {
    refuse_npy(source_, format_text("%s", found), advice);
  }

  [[noreturn]] void refuse_value(const char* found, std::string_view value,
                                 const char* advice) const {
    refuse_npy(source_, format_text("%s '%s'", found, printable(value).c_str()), advice);
  }

 private:
  void skip_spaces() noexcept {
    position_ = std::min(text_.find_first_not_of(" \t\n\r", position_), text_.size());
  }

  bool take_word(std::string_view word) noexcept {
    skip_spaces();
    const bool is_next = text_.substr(position_).starts_with(word);
    position_ += is_next ? word.size() : 0;
    return is_next;
  }

  std::int64_t integer() {
    skip_spaces();
    const char* const begin = text_.data() + position_;
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failure == std::errc::result_out_of_range) {
      refuse_here("an integer below 2^63");
    }
    if (failure != std::errc()) {
      refuse_here("an integer");
    }
    const char* const digits = begin + (*begin == '-' ? 1 : 0);
    if (value != 0 && *digits == '0') {
      refuse_here("an integer without leading zeros");
    }
    position_ += static_cast<std::size_t>(end - begin);
    if (position_ < text_.size() && text_[position_] == 'L') {
      ++position_;  // Python 2 marked long integers with an L
    }
    return value;
  }

  [[noreturn]] void refuse_here(const char* wanted) const {
    const std::string found = printable(text_.substr(position_));
    refuse_npy(source_,
               format_text("its header has \"%s\" at character %zu, expected %s", found.c_str(),
                           position_, wanted),
               "Write the header as a Python dictionary of descr, fortran_order and shape, as "
               "numpy.save does.");
  }

  std::string_view text_;
  std::size_t position_ = 0;
  const char* source_;
};

}  // namespace byre::inline BYRE_ABI::detail
