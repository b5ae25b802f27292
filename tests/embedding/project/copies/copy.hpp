// SPDX-License-Identifier: BSL-1.0
/// What each of two libraries, `first` and `second`, does with the byre that it contains.
#pragma once

#include <cstdint>

#define DECLARE_COPY(name)                                        \
  namespace name {                                                \
  /* Lazily clones a buffer and writes it, `count` times. */      \
  [[gnu::visibility("default")]] void clone_and_write(int count); \
  /* What this library's byre has counted so far. */              \
  [[gnu::visibility("default")]] std::int64_t lazy_clones();      \
  /* Where this library's byre has its default allocator. */      \
  [[gnu::visibility("default")]] const void* default_allocator(); \
  }

DECLARE_COPY(first)
DECLARE_COPY(second)

#undef DECLARE_COPY
