// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/held_locks.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_table.hpp>

namespace byre::inline BYRE_ABI::sync::detail {
namespace {

// 64 buckets suffice: threads that lock different objects contend for a bucket only during a
// look-up.
using ProcessLocks = ProcessTable<basic_lock_table<Default, TableMutex, TableCondition, 6>>;

constinit thread_local unsigned held_locks = 0;

}  // namespace

bool LockTable<Default>::lock_unless(Holder& holder, ConditionRef is_done) {
  const bool is_held = no_destructor<ProcessLocks>().table.lock_unless(holder, is_done);
  if (is_held) {
    HeldLocks::add();
  }
  return is_held;
}

void LockTable<Default>::unlock(Holder& holder) noexcept {
  HeldLocks::remove();
  no_destructor<ProcessLocks>().table.unlock(holder);
}

void HeldLocks::add() noexcept {
  ++held_locks;
}

void HeldLocks::remove() noexcept {
  --held_locks;
}

bool HeldLocks::any() noexcept {
  return held_locks != 0;
}

}  // namespace byre::inline BYRE_ABI::sync::detail
