// SPDX-License-Identifier: BSL-1.0
/// HeldLocks: the number of locks that the calling thread holds across calls of user code. A budget
/// (memory/budget.hpp) calls no reclaimer while the number is not 0.
#pragma once

#include <byre/config.hpp>

namespace byre::inline BYRE_ABI::sync::detail {

/// Wait-free; nothing throws.
class BYRE_API HeldLocks {
 public:
  static void add() noexcept;
  static void remove() noexcept;
  static bool any() noexcept;
};

/// Counts as a held lock while it exists.
struct [[nodiscard]] HoldsLock {
  HoldsLock() noexcept { HeldLocks::add(); }
  ~HoldsLock() { HeldLocks::remove(); }
  HoldsLock(const HoldsLock&) = delete;
  HoldsLock& operator=(const HoldsLock&) = delete;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
