// SPDX-License-Identifier: BSL-1.0
/// The precompiled header of each program of unit tests. It saves a third of the compile time of a
/// small test file. It includes no header of byre, because a change of that header would rebuild
/// the precompiled header and all tests.

#include <gtest/gtest.h>
