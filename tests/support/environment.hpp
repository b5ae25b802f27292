// SPDX-License-Identifier: BSL-1.0
/// Changes of the environment of this process.
#pragma once

#include <cstdlib>

namespace byre::test {

/// Sets a variable, or removes it if `value` is "".
inline void set_variable(const char* name, const char* value) {
#if defined(_WIN32)
  ::_putenv_s(name, value);
#else
  *value == '\0' ? ::unsetenv(name) : ::setenv(name, value, 1);
#endif
}

}  // namespace byre::test
