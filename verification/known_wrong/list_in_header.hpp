// SPDX-License-Identifier: BSL-1.0
/// Parking, wrong: the list of waiters is beside the word, in the header, so that who wakes reads
/// what the waiter may have freed by then.
#pragma once

#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::verification {

enum class WaiterSite : std::uint8_t { load_waiters };

inline constexpr sync::SiteTable<WaiterSite, 1> waiter_sites{{{
    {"wakes_through_header.load_waiters", sync::Operation::load, std::memory_order::relaxed},
}}};

/// What waits at a share word, over `Base`.
template <sync::Sync Base>
struct ListInHeader : Base {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    using Word = typename Base::template Atomic<std::uint64_t>;
    static_cast<const Word*>(address)->load(
        waiter_sites.at(WaiterSite::load_waiters, std::memory_order::relaxed));
    Base::unpark_all(address, step);
  }
};

}  // namespace byre::verification
