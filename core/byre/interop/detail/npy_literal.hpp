// SPDX-License-Identifier: BSL-1.0
/// Reads the few Python literals that .npy headers are made of, from left to right. Strict: what
/// NumPy does not write is refused, with the place.
#pragma once

#include <byre/tensor/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace byre::inline v0::detail {

/// Each member passes over spaces first, and throws FileError, which names the source, where the
/// text is not what it reads.
class PythonLiteral {
 public:
  /// Of a text that outlives this.
  PythonLiteral(std::string_view text, const char* source) noexcept
      : text_(text), source_(source) {}

  /// True iff `token` is next; take() passes over it then.
  bool at(char token) noexcept;
  bool take(char token) noexcept;
  void expect(char token);
  void expect_end();

  /// In either kind of quotes, without escapes.
  std::string_view string();
  bool boolean();
  /// A tuple of at most `most`.
  Dims integers(std::size_t most);

  [[noreturn]] void refuse(const char* found, const char* advice) const;
  /// The same, with the value quoted.
  [[noreturn]] void refuse_value(const char* found, std::string_view value,
                                 const char* advice) const;

 private:
  void skip_spaces() noexcept;
  bool take_word(std::string_view word) noexcept;
  std::int64_t integer();
  [[noreturn]] void refuse_here(const char* wanted) const;

  std::string_view text_;
  std::size_t position_ = 0;
  const char* source_;
};

}  // namespace byre::inline v0::detail
