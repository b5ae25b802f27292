// SPDX-License-Identifier: BSL-1.0
/// The lines by which raw pointers to write to watched storages left, and how often.
#pragma once

#include <byre/error/call_site.hpp>

#include <cstdint>
#include <vector>

namespace byre::inline v0::shadow {

struct UnauditedLine {
  CallSite site;  ///< line 0: a place that is not known
  /// Once for each storage that a pointer left before its first watched reshape, each time since.
  std::uint64_t times = 0;
};

namespace detail {

/// Those where any left since the last reset, in the order of their names. Thread-safe. Throws
/// std::bad_alloc.
std::vector<UnauditedLine> unaudited_lines();
/// Thread-safe; wait-free.
void reset_unaudited_lines() noexcept;

}  // namespace detail
}  // namespace byre::inline v0::shadow
