// SPDX-License-Identifier: BSL-1.0
/// The floating-point environment of loops over elements: round to nearest, preserve subnormals,
/// trap no exceptions. The environment of the caller may differ: for example, a library that is
/// linked with -ffast-math may make threads flush subnormals to zero.
#pragma once

#include <byre/config.hpp>

#include <cfenv>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// The constructor enters the default environment. The destructor restores the previous environment
/// of the thread, including the status flags. Cost: two register reads if the thread is already in
/// the default environment.
///
/// The compiler does not know that arithmetic depends on the environment, and may move arithmetic
/// out of the scope of this object. Within the scope, pass numbers through memory, and call only
/// noinline functions or functions behind pointers.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept : is_entered_(!is_default()) {
    if (is_entered_) [[unlikely]] {
      std::fegetenv(&before_);
      std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
      __builtin_ia32_ldmxcsr(all_masked);
#endif
    }
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
  ~DefaultFloatEnvironment() {
    if (is_entered_) [[unlikely]] {
      std::fesetenv(&before_);
#if defined(__x86_64__)
      __builtin_ia32_ldmxcsr(register_before_);
#endif
    }
  }

 private:
#if defined(__x86_64__)
  static constexpr std::uint32_t all_masked = 0x1F80;
  // Restored here too, because fesetenv() of mingw-w64 leaves the register as it is.
  const std::uint32_t register_before_ = __builtin_ia32_stmxcsr();
#endif

  static bool is_default() noexcept {
#if defined(__x86_64__)
    constexpr std::uint32_t status_flags = 0x3F;
    return (__builtin_ia32_stmxcsr() & ~status_flags) == all_masked;
#elif defined(__aarch64__) && defined(__clang__)
    return __builtin_arm_rsr64("fpcr") == 0;
#elif defined(__aarch64__)
    return __builtin_aarch64_get_fpcr() == 0;
#else
    return false;
#endif
  }

  const bool is_entered_;
  std::fenv_t before_;
};

}  // namespace byre::inline BYRE_ABI::detail
