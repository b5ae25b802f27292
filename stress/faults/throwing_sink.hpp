// SPDX-License-Identifier: BSL-1.0
/// ThrowingSink: a copy sink that throws when the copying thread's Injector says so. Each throw has to become
/// one warning, and nothing else.
#pragma once

#include <byre/error/error.hpp>
#include <byre/observe/events.hpp>

#include <cstdint>
#include <optional>

#include "../failures.hpp"

namespace byre::stress {

/// Installed while it lives, if `installed` says so. Meanwhile warnings are counted, not written. One at a
/// time.
class ThrowingSink {
 public:
  explicit ThrowingSink(bool installed);
  ~ThrowingSink();
  ThrowingSink(const ThrowingSink&) = delete;
  ThrowingSink& operator=(const ThrowingSink&) = delete;

  /// Every throw became a warning. While no thread copies.
  void check(std::uint64_t thrown, Failures& failures) const;

 private:
  std::optional<stats::InstalledSink> sink_;
  WarningHandler handler_before_ = nullptr;
};

}  // namespace byre::stress
