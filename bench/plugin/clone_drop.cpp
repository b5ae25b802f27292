// SPDX-License-Identifier: BSL-1.0
// Compiled twice, as two libraries that a program loads: clone and drop with thread-local variables that
// are reached by a call, as a library's are, and without one, as the option static_tls has it.
#include <byre/byre.hpp>

#include "plugin.hpp"

void byre_bench::CLONE_AND_DROP(const byre::Buffer& source, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    const byre::Buffer clone(source);
    asm("" : : "g"(clone.data()) : "memory");
  }
}
