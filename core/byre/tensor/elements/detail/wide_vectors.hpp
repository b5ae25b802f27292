// SPDX-License-Identifier: BSL-1.0
/// Loops that are compiled twice on x86-64: for every such machine, and for those with AVX2 and FMA, nearly all. Who
/// has both asks which it is.
#pragma once

namespace byre::inline v0::detail {

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

}  // namespace byre::inline v0::detail
