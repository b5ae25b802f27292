// SPDX-License-Identifier: BSL-1.0
/// Helpers for users' tests: expect_copies_at_most() fails if a block of code makes more copies
/// than expected.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/events.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace byre::inline BYRE_ABI::stats {

/// Counts the copies that all threads make during its lifetime. The const members are thread-safe.
class BYRE_API CopyLimit {
 public:
  /// Installs a copy sink that counts. Throws InvalidArgument in a build without stats (Meson
  /// option), which cannot count, or OutOfMemory. Ends the program if called inside a copy sink.
  explicit CopyLimit(std::size_t most, CallSite site = CallSite::current());
  ~CopyLimit();
  CopyLimit(const CopyLimit&) = delete;
  CopyLimit& operator=(const CopyLimit&) = delete;

  /// The number of copies so far.
  std::size_t copies() const;

  /// Throws TooManyCopies if there were more than `most` copies. The message contains the first
  /// four call sites.
  void expect_kept() const;

 private:
  struct Copies;

  const std::size_t most_;
  const CallSite site_;
  const std::unique_ptr<Copies> copies_;
  InstalledSink sink_;  // declared last, because it uses copies_
};

/// Runs `block()` under a CopyLimit and returns its result. Throws what `block()` throws, and
/// otherwise what CopyLimit and CopyLimit::expect_kept() throw.
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

}  // namespace byre::inline BYRE_ABI::stats
