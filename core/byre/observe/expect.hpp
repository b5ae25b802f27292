// SPDX-License-Identifier: BSL-1.0
/// A test helper for users: fails when a block of code made more copies than expected.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/events.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace byre::inline v0::stats {

/// Counts the copies that any thread makes while it lives. Throws InvalidArgument when made in a
/// build without stats (Meson option), where it could not fail; OutOfMemory.
class BYRE_API CopyLimit {
 public:
  explicit CopyLimit(std::size_t most, CallSite site = CallSite::current());
  ~CopyLimit();
  CopyLimit(const CopyLimit&) = delete;
  CopyLimit& operator=(const CopyLimit&) = delete;

  std::size_t copies() const;

  /// Throws TooManyCopies, naming the call sites, if there were more than `most`.
  void expect_kept() const;

 private:
  struct Copies;

  const std::size_t most_;
  const CallSite site_;
  const std::unique_ptr<Copies> copies_;
  InstalledSink sink_;  // last: it counts into the others
};

/// Runs `block()` under a CopyLimit, checks it, and returns what the block returned.
///
///     byre::stats::expect_copies_at_most(0, [&] { total = sum(weights); });
template <class Block>
inline decltype(auto) expect_copies_at_most(std::size_t most, Block&& block,
                                            CallSite site = CallSite::current()) {
  const CopyLimit limit(most, site);
  if constexpr (std::is_void_v<decltype(block())>) {
    std::forward<Block>(block)();
    limit.expect_kept();
  } else {
    decltype(auto) result = std::forward<Block>(block)();
    limit.expect_kept();
    return result;
  }
}

}  // namespace byre::inline v0::stats
