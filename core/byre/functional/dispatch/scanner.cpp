// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/elements/detail/convert.hpp>

#include <algorithm>
#include <charconv>
#include <complex>
#include <limits>
#include <new>
#include <optional>

namespace byre::inline v0::functional {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
/// The end of the letters, digits and _ from `at` on.
std::size_t end_of_word(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) {
    ++at;
  }
  return at;
}

std::optional<DType> dtype_named(std::string_view name) noexcept {
  for (std::size_t index = 0; index < byre::detail::dtype_count; ++index) {
    if (name == byre::detail::dtype_names[index]) {
      return static_cast<DType>(index);
    }
  }
  return std::nullopt;
}

/// As elements are converted: Scalar::as() would round as the caller's floating-point environment says.
float nearest_f32(const Scalar& number) {
  const auto wide = number.as<double>();
  float nearest = 0;
  const byre::detail::DefaultFloatEnvironment environment;
  byre::detail::conversion(DType::f32, DType::f64, "parse")(
      reinterpret_cast<std::byte*>(&nearest), 0, reinterpret_cast<const std::byte*>(&wide), 0, 1);
  return nearest;
}

}  // namespace

bool Scanner::accept(std::string_view word) noexcept {
  if (!is_at(word)) {
    return false;
  }
  // A word is not the beginning of a longer one.
  const std::size_t end = at_ + word.size();
  if (is_letter(word.back()) && end_of_word(text_, end) != end) {
    return false;
  }
  at_ = end;
  skip_blanks();
  return true;
}

void Scanner::expect(std::string_view word) try {
  if (!accept(word)) {
    expected("'" + std::string(word) + "'");
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("Scanner");
}

bool Scanner::is_at_identifier() const noexcept {
  return is_letter(peek());
}

bool Scanner::is_at_number() const noexcept {
  const std::size_t first = at_ + (peek() == '-' ? 1 : 0);
  const auto rest = text_.substr(std::min(first, text_.size()));
  return (!rest.empty() && is_digit(rest.front())) || rest.starts_with("inf") ||
         rest.starts_with("nan");
}

std::string Scanner::identifier(std::string_view what) try {
  if (!is_at_identifier()) {
    expected(what);
  }
  const std::size_t begin = at_;
  at_ = end_of_word(text_, at_);
  std::string name(between(begin, at_));
  skip_blanks();
  return name;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("Scanner");
}

std::int64_t Scanner::integer(std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::invalid_argument) {
    expected(what);
  }
  if (error == std::errc::result_out_of_range) {
    refuse("this number is more than i64 holds");
  }
  at_ = static_cast<std::size_t>(end - text_.data());
  skip_blanks();
  return value;
}

Scalar Scanner::number() {
  const std::size_t begin = at_;
  std::size_t end = at_ + (peek() == '-' ? 1 : 0);
  while (end < text_.size() && is_digit(text_[end])) {
    ++end;
  }
  const bool is_whole = end == text_.size() || !(text_[end] == '.' || is_letter(text_[end]));
  if (is_whole) {
    return integer("a number");
  }
  double value = 0;
  const auto [after, error] = byre::detail::double_from_chars(text_.substr(begin), value);
  if (error == std::errc::invalid_argument) {
    expected("a number");
  }
  if (error == std::errc::result_out_of_range) {
    refuse("this number is out of the range of f64");
  }
  at_ = static_cast<std::size_t>(after - text_.data());
  skip_blanks();
  return value;
}

Constant Scanner::constant() try {
  if (accept("complex")) {
    expect("(");
    const auto real = nearest_f32(number());
    expect(",");
    const auto imaginary = nearest_f32(number());
    expect(")");
    return Scalar(std::complex<float>(real, imaginary));
  }
  if (is_at_number()) {
    return number();
  }
  if (accept("[")) {
    Dims dims;
    if (!accept("]")) {
      do {
        dims.push_back(integer("an integer"));
      } while (accept(","));
      expect("]");
    }
    return dims;
  }
  if (accept("true") || accept("True")) {
    return true;
  }
  if (accept("false") || accept("False")) {
    return false;
  }
  if (accept("none") || accept("None")) {
    return NoValue();
  }
  const std::size_t begin = at_;
  if (is_at_identifier()) {
    if (const auto dtype = dtype_named(identifier("a dtype"))) {
      return *dtype;
    }
  }
  at_ = begin;
  expected("a number, true, false, none, a dtype or a list of integers");
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("Scanner");
}

void Scanner::skip_blanks() noexcept {
  while (at_ < text_.size()) {
    const char next = text_[at_];
    if (next == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (next == ' ' || next == '\t' || next == '\r' || next == '\n') {
      ++at_;
    } else {
      return;
    }
  }
}

void Scanner::expected(std::string_view what) const try {
  std::string found = "the end";
  if (!is_at_end()) {
    const std::size_t end = std::max(at_ + 1, end_of_word(text_, at_));
    found = "'" + std::string(between(at_, end)) + "'";
  }
  refuse("expected " + std::string(what) + ", found " + found);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("Scanner");
}

void Scanner::refuse(std::string_view message, std::size_t position) const try {
  const std::size_t at = std::min(position, text_.size());
  const std::size_t begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text_.find('\n', at), text_.size());
  const auto line = 1 + static_cast<std::size_t>(std::count(
                            text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  // Of a long line, what is around the place.
  constexpr std::size_t most_before = 60;
  constexpr std::size_t most = 100;
  const std::size_t from = at - begin > most_before ? at - most_before : begin;
  const std::string shown(between(from, std::min(end, from + most)));
  throw SyntaxError(
      format_text("%.*s:%zu:%zu: %.*s\n  %s\n  %*s", static_cast<int>(source_.size()),
                  source_.data(), line, at - begin + 1,
                  static_cast<int>(std::min<std::size_t>(message.size(), 400)), message.data(),
                  shown.c_str(), static_cast<int>(at - from + 1), "^"),
      line, at - begin + 1);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("Scanner");
}

}  // namespace byre::inline v0::functional
