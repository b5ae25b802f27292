// SPDX-License-Identifier: BSL-1.0
/// sync::Default: the seam of this build, which the Meson option `sync` selects.
#pragma once

#include <byre/config.hpp>

#if BYRE_SYNC == 1
#include <byre/sync/boost.hpp>
#elif BYRE_SYNC == 2
#include <byre/sync/standard.hpp>
#else
#include <byre/sync/single_thread.hpp>
#endif

namespace byre::inline BYRE_ABI::sync {

#if BYRE_SYNC == 1
using Default = Boost;
#elif BYRE_SYNC == 2
using Default = Standard;
#else
using Default = SingleThread;
#endif

}  // namespace byre::inline BYRE_ABI::sync
