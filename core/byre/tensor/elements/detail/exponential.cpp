// SPDX-License-Identifier: BSL-1.0
/// e^x = 2^n e^r, where n is the integer nearest to x / ln 2, so that |r| <= ln 2 / 2. e^r is the
/// sum of the first terms of its series; the omitted terms are less than a tenth of an ulp (unit in
/// the last place). ln 2 is split into two constants. The first constant has so few bits that its
/// product with n is exact.
/// Source: W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980.
///
/// Uses the compiler's vector extension. Compilers do not vectorize a scalar loop, because its
/// comparisons become branches.
#include <byre/tensor/elements/detail/exponential.hpp>
#include <byre/tensor/elements/detail/wide_vectors.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// Whether the compiler preserves the order of operations and rounds each result to its type. The
/// method requires both. x87 arithmetic and -ffast-math do not guarantee them.
#if __FLT_EVAL_METHOD__ == 0 && !defined(__FAST_MATH__)
constexpr bool is_rounded_step_by_step = true;
#else
constexpr bool is_rounded_step_by_step = false;
#endif

template <class T>
struct Constants;

template <>
struct Constants<float> {
  using Bits = std::uint32_t;
  static constexpr float lowest = -104.0F;  ///< up to this number the result rounds to 0
  static constexpr float highest = 89.0F;   ///< from this number on the result is infinite
  static constexpr float ln2_high = 0x1.62e4p-1F;
  static constexpr float ln2_low = 0x1.7f7d1cp-20F;
  static constexpr int last_term = 7;
};

template <>
struct Constants<double> {
  using Bits = std::uint64_t;
  static constexpr double lowest = -746.0;
  static constexpr double highest = 710.0;
  static constexpr double ln2_high = 0x1.62e42feep-1;
  static constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr int last_term = 13;
};

template <class T, int N>
inline constexpr T one_by_factorial = one_by_factorial<T, N - 1> / T{N};
template <class T>
inline constexpr T one_by_factorial<T, 0> = 1;

/// Passes vectors by reference: the calling convention of vectors by value depends on the target.
template <class T, std::size_t Nbytes>
struct Exponential {
  using Values = Constants<T>;
  using Bits = typename Values::Bits;
  typedef T Vector __attribute__((vector_size(Nbytes)));
  typedef Bits BitVector __attribute__((vector_size(Nbytes)));
  static constexpr auto lanes = static_cast<std::int64_t>(Nbytes / sizeof(T));

  /// The sum of r^(k - Term) / k! for k from Term to the last.
  template <int Term>
  [[gnu::always_inline]] static void sum_terms(Vector& sum, const Vector& r) noexcept {
    if constexpr (Term == Values::last_term) {
      sum = Vector{} + one_by_factorial<T, Term>;
    } else {
      sum_terms<Term + 1>(sum, r);
      sum = sum * r + one_by_factorial<T, Term>;
    }
  }

  [[gnu::always_inline]] static void exponentiate_vector(Vector& x) noexcept {
    constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
    constexpr Bits bias = std::numeric_limits<T>::max_exponent - 1;
    // The low bits of the sum of `shifter` and a number are the integer nearest to the number.
    constexpr T shifter = static_cast<T>(Bits{3} << (mantissa_bits - 1));
    constexpr T log2_e = static_cast<T>(1.442695040888963407359924681001892137L);

    x = x < Values::lowest ? Vector{} + Values::lowest : x;  // NaN stays NaN
    x = x > Values::highest ? Vector{} + Values::highest : x;
    const Vector shifted = x * log2_e + shifter;
    const Vector n = shifted - shifter;
    const Vector r = (x - n * Values::ln2_high) - n * Values::ln2_low;
    Vector sum;
    sum_terms<2>(sum, r);
    const Vector power = T{1} + (r + r * r * sum);
    // 2^n may be out of range of T. Therefore multiplies by two factors, 2^floor(n / 2) and 2^(n -
    // floor(n / 2)). Each factor is built from its biased exponent.
    const BitVector exponents =
        __builtin_bit_cast(BitVector, shifted) - std::bit_cast<Bits>(shifter) + 2 * bias;
    const BitVector half = exponents >> 1;
    x = power * __builtin_bit_cast(Vector, half << mantissa_bits) *
        __builtin_bit_cast(Vector, (exponents - half) << mantissa_bits);
  }

  /// The last vector is padded, so that every element is computed in the same way.
  [[gnu::always_inline]] static void exponentiate_all(T* result, const T* numbers,
                                                      std::int64_t length) noexcept {
    if constexpr (!is_rounded_step_by_step) {
      for (std::int64_t i = 0; i < length; ++i) {
        result[i] = std::exp(numbers[i]);
      }
      return;
    }
    for (; length >= lanes; length -= lanes, result += lanes, numbers += lanes) {
      Vector x;
      std::memcpy(&x, numbers, Nbytes);
      exponentiate_vector(x);
      std::memcpy(result, &x, Nbytes);
    }
    if (length > 0) {
      Vector x{};
      std::memcpy(&x, numbers, static_cast<std::size_t>(length) * sizeof(T));
      exponentiate_vector(x);
      std::memcpy(result, &x, static_cast<std::size_t>(length) * sizeof(T));
    }
  }
};

// On x86-64, uses AVX2 and fused multiply-add (FMA).
template <class T>
BYRE_WIDE_VECTORS(",fma")
void exponentiate_wide(T* result, const T* numbers, std::int64_t length) noexcept {
  Exponential<T, 32>::exponentiate_all(result, numbers, length);
}

}  // namespace

template <class T>
void exponentiate_portable(T* result, const T* numbers, std::int64_t length) noexcept {
  Exponential<T, 16>::exponentiate_all(result, numbers, length);
}

template <class T>
void exponentiate(T* result, const T* numbers, std::int64_t length) noexcept {
  if (has_wide_vectors()) {
    exponentiate_wide(result, numbers, length);
  } else {
    exponentiate_portable(result, numbers, length);
  }
}

template void exponentiate_portable(float*, const float*, std::int64_t) noexcept;
template void exponentiate_portable(double*, const double*, std::int64_t) noexcept;
template void exponentiate(float*, const float*, std::int64_t) noexcept;
template void exponentiate(double*, const double*, std::int64_t) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
