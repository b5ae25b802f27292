// SPDX-License-Identifier: BSL-1.0
/// Support for loops that are compiled twice on x86-64: for every machine, and for machines with
/// AVX2 and FMA, which most machines have. Callers choose by has_wide_vectors().
#pragma once

#include <byre/config.hpp>

namespace byre::inline BYRE_ABI::detail {

#if defined(__x86_64__)
#define BYRE_WIDE_VECTORS(also) [[gnu::target("avx2" also)]]

inline bool has_wide_vectors() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
#else
#define BYRE_WIDE_VECTORS(also)

constexpr bool has_wide_vectors() noexcept {
  return false;
}
#endif

}  // namespace byre::inline BYRE_ABI::detail
