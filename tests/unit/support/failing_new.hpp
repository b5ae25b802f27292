// SPDX-License-Identifier: BSL-1.0
/// operator new, replaced for the whole test program by one that can be told to fail.
#pragma once

namespace byre::test {

/// How many more calls on this thread succeed before one fails; TestAllocator::never: all.
extern thread_local int news_until_failure;

/// Set when one failed.
extern thread_local bool new_failed;

}  // namespace byre::test
