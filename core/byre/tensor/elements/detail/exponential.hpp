// SPDX-License-Identifier: BSL-1.0
/// The exponential function of many floating-point numbers at once, by vector instructions.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// Writes e to the power of each of `length` numbers to `result`. Each result is within 1 ulp (unit
/// in the last place) and does not depend on the position in the array. For infinities, zeros and
/// NaN, and if the result overflows or is 0, the result is that of std::exp.
///
/// T is float or double. Requires that `result` equals `numbers` or does not overlap it. Uses the
/// widest vectors that this machine is known to support. Therefore the last bit of a result may
/// differ between kinds of machines.
template <class T>
void exponentiate(T* result, const T* numbers, std::int64_t length) noexcept;

/// Like exponentiate(), but uses only vectors that every machine of this architecture supports.
template <class T>
void exponentiate_portable(T* result, const T* numbers, std::int64_t length) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
