// SPDX-License-Identifier: BSL-1.0
/// Clone and drop, `times` over, in a library of its own.
#pragma once

#include <byre/byre.hpp>

#include <cstddef>

namespace byre_bench {

[[gnu::visibility("default")]] void clone_and_drop_dynamic_tls(const byre::Buffer& source,
                                                               std::size_t times);
[[gnu::visibility("default")]] void clone_and_drop_static_tls(const byre::Buffer& source,
                                                              std::size_t times);

}  // namespace byre_bench
