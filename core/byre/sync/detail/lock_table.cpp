// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/basic_lock_table.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/process_table.hpp>

namespace byre::inline BYRE_ABI::sync::detail {
namespace {

// 64 buckets suffice: threads that lock different objects contend for a bucket only during a
// look-up.
using ProcessLocks = ProcessTable<basic_lock_table<Default, TableMutex, TableCondition, 6>>;

}  // namespace

bool LockTable<Default>::lock_unless(Holder& holder, ConditionRef is_done) {
  return no_destructor<ProcessLocks>().table.lock_unless(holder, is_done);
}

void LockTable<Default>::unlock(Holder& holder) noexcept {
  no_destructor<ProcessLocks>().table.unlock(holder);
}

}  // namespace byre::inline BYRE_ABI::sync::detail
