// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as words of one width, so that they stand in columns. Each kind of
/// element has its overload; brackets and lines are print.cpp's.
#pragma once

#include <byre/tensor/half.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace byre::inline v0::detail {

using Words = std::vector<std::string>;

/// Fills words up with spaces on the left.
void align_right(Words& words);

/// Whole numbers, right-aligned.
template <std::integral T>
requires(!std::same_as<T, bool>) Words words_of(std::span<const T> values, int /*precision*/) {
  Words words;
  for (const T value : values) {
    words.push_back(std::to_string(value));
  }
  align_right(words);
  return words;
}

/// " True" and "False".
Words words_of(std::span<const bool> values, int precision);

/// Fixed-point numbers whose decimal points stand below each other, or, where their magnitudes
/// differ too much for that, all of them in scientific notation. Source: NumPy's rule for which.
template <class T>
Words words_of(std::span<const T> values, int precision);
Words words_of(std::span<const std::complex<float>> values, int precision);

}  // namespace byre::inline v0::detail
