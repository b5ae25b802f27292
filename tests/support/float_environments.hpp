// SPDX-License-Identifier: BSL-1.0
/// Floating-point environments in which a program may call byre.
#pragma once

#include <array>
#include <cfenv>
#include <cstdint>

namespace byre::test {

struct FloatEnvironmentKind {
  const char* name;
  void (*enter)();
};

#if defined(__x86_64__)
/// The control bits of this thread's environment, and its status flags if the register has them.
inline std::uint64_t float_control() {
  return __builtin_ia32_stmxcsr();
}
inline void flush_subnormals() {
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
}
#elif defined(__aarch64__)
inline std::uint64_t float_control() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void flush_subnormals() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | std::uint64_t{1} << 24));
}
#else
inline std::uint64_t float_control() {
  return static_cast<std::uint64_t>(std::fegetround());
}
inline void flush_subnormals() {}
#endif

inline void trap_exceptions() {
#if defined(__GLIBC__)
  ::feenableexcept(FE_ALL_EXCEPT);
#endif
}

inline const std::array float_environments{
    FloatEnvironmentKind{"flush_subnormals", &flush_subnormals},
    FloatEnvironmentKind{"round_upward", [] { std::fesetround(FE_UPWARD); }},
    FloatEnvironmentKind{"round_downward", [] { std::fesetround(FE_DOWNWARD); }},
    FloatEnvironmentKind{"round_toward_zero", [] { std::fesetround(FE_TOWARDZERO); }},
    FloatEnvironmentKind{"trap_exceptions", &trap_exceptions},
};

/// Runs `compute` in a floating-point environment, restores the previous one, and returns the
/// result.
template <class Compute>
auto in_environment(const FloatEnvironmentKind& environment, const Compute& compute) {
  std::fenv_t before;
  std::fegetenv(&before);
#if defined(__x86_64__)  // fesetenv() of mingw-w64 leaves this register as it is
  const unsigned control = __builtin_ia32_stmxcsr();
#endif
  environment.enter();
  auto result = compute();
  std::fesetenv(&before);
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(control);
#endif
  return result;
}

}  // namespace byre::test
