// SPDX-License-Identifier: BSL-1.0
/// Precompiled for each program of unit tests: a third of what a small one of their files takes. Headers of
/// byre are not in it, for which it would have to be made anew whenever one of them changes.

#include <gtest/gtest.h>
