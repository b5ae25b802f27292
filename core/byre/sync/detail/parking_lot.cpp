// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/basic_parking_lot.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/detail/process_table.hpp>

namespace byre::inline BYRE_ABI::sync::detail {
namespace {

// 64 buckets suffice: waits are rare and short, and two in one bucket only wake each other
// spuriously.
using ParkingLot = ProcessTable<basic_parking_lot<TableMutex, TableCondition, 6>>;

}  // namespace

void park(const void* address, ConditionRef keep_waiting) noexcept {
  no_destructor<ParkingLot>().table.park(address, keep_waiting);
}

void unpark_all(const void* address) noexcept {
  no_destructor<ParkingLot>().table.unpark_all(address);
}

}  // namespace byre::inline BYRE_ABI::sync::detail
