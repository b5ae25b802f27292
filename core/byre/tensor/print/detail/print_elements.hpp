// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as words of equal width, so that they align in columns. There is an
/// overload for each kind of element. print.cpp adds brackets and lines.
#pragma once

#include <byre/tensor/half.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace byre::inline BYRE_ABI::detail {

using Words = std::vector<std::string>;

/// Pads words with spaces on the left to equal width.
void align_right(Words& words);

/// Integers, right-aligned.
template <std::integral T>
requires(!std::same_as<T, bool>) Words words_of(std::span<const T> values, int /*precision*/) {
  Words words;
  for (const T value : values) {
    words.push_back(std::to_string(value));
  }
  align_right(words);
  return words;
}

/// Bools as " True" and "False".
Words words_of(std::span<const bool> values, int precision);

/// Floating-point numbers in fixed-point notation, with aligned decimal points. If the magnitudes
/// are extreme or differ too much, all numbers are in scientific notation. Source: NumPy's rule.
template <class T>
Words words_of(std::span<const T> values, int precision);
Words words_of(std::span<const std::complex<float>> values, int precision);

}  // namespace byre::inline BYRE_ABI::detail
