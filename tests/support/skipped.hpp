// SPDX-License-Identifier: BSL-1.0
/// Skips tests that a build cannot run, for builds without processes or without threads. Compilers
/// include this file before each source of a unit test, so no test needs to say what it requires.
///
///   a test that                  is skipped without
///   is a death test              processes
///   calls fork()                 processes
///   starts a thread              threads
#pragma once

#include <gtest/gtest.h>

#if !BYRE_HAS_PROCESSES
#undef EXPECT_DEATH
#undef EXPECT_EXIT
#define EXPECT_DEATH(statement, message) EXPECT_EXIT(statement, , message)
#define EXPECT_EXIT(statement, status, message) \
  if (false) {                                  \
    statement;                                  \
  }                                             \
  GTEST_SKIP() << "this system has no processes, which death tests need"
#endif
