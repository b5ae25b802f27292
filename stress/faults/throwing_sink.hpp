// SPDX-License-Identifier: BSL-1.0
/// A copy sink that throws when the copying thread's Injector says so. What a sink throws has to
/// become a warning, one for each, and nothing else.
#pragma once

#include <byre/error/error.hpp>
#include <byre/stats/events.hpp>

#include <cstdint>
#include <optional>

#include "../failures.hpp"

namespace byre::stress {

/// Installed while it lives, if it is to be; warnings are counted meanwhile instead of written. One
/// at a time.
class ThrowingSink {
 public:
  explicit ThrowingSink(bool installed);
  ~ThrowingSink();
  ThrowingSink(const ThrowingSink&) = delete;
  ThrowingSink& operator=(const ThrowingSink&) = delete;

  /// While no thread copies: every throw became a warning.
  void check(std::uint64_t thrown, Failures& failures) const;

 private:
  std::optional<stats::InstalledSink> sink_;
  WarningHandler handler_before_ = nullptr;
};

}  // namespace byre::stress
