// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/elements/detail/convert.hpp>

#include <algorithm>
#include <charconv>
#include <complex>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
/// Returns the end of the letters, digits and `_` that start at `at`.
std::size_t end_of_word(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) {
    ++at;
  }
  return at;
}

/// Returns the length of a text for printf's `%.*s`, at most 400.
int width_of(std::string_view text) noexcept {
  return static_cast<int>(std::min<std::size_t>(text.size(), 400));
}

/// Rounds in the default floating-point environment, like the conversion of elements. Scalar::as()
/// would round in the caller's environment.
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
  const std::size_t end = at_ + word.size();
  const bool is_word = is_letter(word.back()) || is_digit(word.back());
  const bool begins_a_longer_word = is_word && end_of_word(text_, end) != end;
  if (!is_at(word) || begins_a_longer_word) {
    return false;
  }
  at_ = end;
  skip_blanks();
  return true;
}

void Scanner::expect(std::string_view word) {
  if (!accept(word)) {
    expected(format_text("'%.*s'", width_of(word), word.data()).chars.data());
  }
}

bool Scanner::is_at_identifier() const noexcept {
  return is_letter(peek());
}

bool Scanner::is_at_number() const noexcept {
  const std::string_view unsigned_part = text_.substr(at_ + (peek() == '-' ? 1 : 0));
  return (!unsigned_part.empty() && is_digit(unsigned_part.front())) ||
         unsigned_part.starts_with("inf") || unsigned_part.starts_with("nan");
}

std::string_view Scanner::identifier(std::string_view what) {
  if (!is_at_identifier()) {
    expected(what);
  }
  const std::size_t begin = std::exchange(at_, end_of_word(text_, at_));
  const std::string_view name = text_.substr(begin, at_ - begin);
  skip_blanks();
  return name;
}

Scalar Scanner::number(bool is_integer) {
  const std::string_view rest = text_.substr(at_);
  const char* const all_end = rest.data() + rest.size();
  std::int64_t whole = 0;
  double real = 0;
  auto [end, error] = std::from_chars(rest.data(), all_end, whole);
  const bool has_fraction =
      error == std::errc::invalid_argument || (end != all_end && (*end == '.' || is_letter(*end)));
  const bool is_whole = is_integer || !has_fraction;
  if (!is_whole) {
    const auto read = byre::detail::double_from_chars(rest, real);
    end = read.ptr;
    error = read.ec;
  }
  if (error == std::errc::invalid_argument) {
    expected(is_integer ? "an integer" : "a number");
  }
  if (error == std::errc::result_out_of_range) {
    refuse(is_whole ? "number out of the range of i64" : "number out of the range of f64");
  }
  at_ += static_cast<std::size_t>(end - rest.data());
  skip_blanks();
  return is_whole ? Scalar(whole) : Scalar(real);
}

Constant Scanner::constant() {
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
        dims.push_back(*number(true).as_integer());
      } while (accept(","));
      expect("]");
    }
    return dims;
  }
  if (accept("none") || accept("None")) {
    return NoValue();
  }
  for (const auto& [word, value] :
       {std::pair("true", true), {"True", true}, {"false", false}, {"False", false}}) {
    if (accept(word)) {
      return value;
    }
  }
  for (std::size_t index = 0; index < byre::detail::dtype_count; ++index) {
    if (accept(byre::detail::dtype_names[index])) {
      return static_cast<DType>(index);
    }
  }
  expected("a number, true, false, none, a dtype or a list of integers");
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

void Scanner::expected(std::string_view what) const {
  const std::size_t end = std::max(at_ + 1, end_of_word(text_, at_));
  const std::string_view found = is_at_end() ? "the end" : text_.substr(at_, end - at_);
  const char* const quote = is_at_end() ? "" : "'";
  refuse(format_text("expected %.*s, found %s%.*s%s", width_of(what), what.data(), quote,
                     width_of(found), found.data(), quote)
             .chars.data());
}

void Scanner::refuse(std::string_view message, std::size_t position) const {
  const std::size_t at = std::min(position, text_.size());
  const std::string_view before = text_.substr(0, at);
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  // Long lines are cut around the position.
  constexpr std::size_t max_before = 60;
  constexpr std::size_t max_shown = 100;
  const std::size_t from = at - begin > max_before ? at - max_before : begin;
  const std::string_view shown =
      text_.substr(from, std::min(text_.find('\n', at) - from, max_shown));
  throw SyntaxError(
      format_text("%.*s:%zu:%zu: %.*s\n  %.*s\n  %*s", width_of(source_), source_.data(), line,
                  at - begin + 1, width_of(message), message.data(), width_of(shown), shown.data(),
                  static_cast<int>(at - from + 1), "^"),
      line, at - begin + 1);
}

}  // namespace byre::inline BYRE_ABI::functional
