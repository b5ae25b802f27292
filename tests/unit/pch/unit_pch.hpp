// SPDX-License-Identifier: BSL-1.0
/// The precompiled header of each program of unit tests. It saves a third of the compile time of a
/// small test file. It excludes headers of byre, because it would be rebuilt whenever one of them
/// changes.

#include <gtest/gtest.h>
