// SPDX-License-Identifier: BSL-1.0
/// exp of many floating-point numbers at once, several to a vector.
#pragma once

#include <cstdint>

namespace byre::inline v0::detail {

/// e to each of `length` numbers, within 1 ulp, wherever in the array it is. Infinities, zeros and NaN
/// give what std::exp gives; so do results that overflow or are 0. `result` may be `numbers`, or has
/// to be apart. By the widest vectors that this machine is known to have: the last bit may differ from one
/// kind of machine to another. T is float or double.
template <class T>
void exponentiate(T* result, const T* numbers, std::int64_t length) noexcept;

/// The same by vectors that every machine of this architecture has.
template <class T>
void exponentiate_portable(T* result, const T* numbers, std::int64_t length) noexcept;

}  // namespace byre::inline v0::detail
