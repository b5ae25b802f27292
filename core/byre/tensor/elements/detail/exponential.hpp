// SPDX-License-Identifier: BSL-1.0
/// exp of many floating-point numbers at once, in vectors of several numbers.
#pragma once

#include <cstdint>

namespace byre::inline v0::detail {

/// Writes e to the power of each of `length` numbers, within 1 ulp, independent of the position in
/// the array. For infinities, zeros and NaN, and if the result overflows or is 0, the result is
/// that of std::exp. `result` must equal `numbers` or not overlap it. Uses the widest vectors that
/// this machine is known to have: the last bit may differ between kinds of machines. T is float or
/// double.
template <class T>
void exponentiate(T* result, const T* numbers, std::int64_t length) noexcept;

/// As exponentiate(), with vectors that every machine of this architecture has.
template <class T>
void exponentiate_portable(T* result, const T* numbers, std::int64_t length) noexcept;

}  // namespace byre::inline v0::detail
