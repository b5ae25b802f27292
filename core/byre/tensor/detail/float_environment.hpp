// SPDX-License-Identifier: BSL-1.0
/// The environment that loops over floating-point elements run in: rounding to nearest, subnormals kept, no exception
/// trapped. A program may have another one: a library that was linked with -ffast-math makes each thread flush
/// subnormals to zero.
#pragma once

#include <cfenv>
#include <cstdint>

namespace byre::inline v0::detail {

/// Enters the default environment, and restores that of the thread at the end, status flags included. Costs one
/// register read if the thread is in the default environment already.
///
/// The compiler does not know that arithmetic depends on the environment: between the two only memory is to be read
/// and written, by functions that are called through pointers or not inlined.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept : is_entered_(!is_default()) {
    if (is_entered_) [[unlikely]] {
      std::fegetenv(&before_);
      std::fesetenv(FE_DFL_ENV);
    }
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
  ~DefaultFloatEnvironment() {
    if (is_entered_) [[unlikely]] {
      std::fesetenv(&before_);
    }
  }

 private:
  static bool is_default() noexcept {
#if defined(__x86_64__)
    constexpr std::uint32_t status_flags = 0x3F;
    constexpr std::uint32_t all_masked = 0x1F80;
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

}  // namespace byre::inline v0::detail
