// SPDX-License-Identifier: BSL-1.0
/// Parking, wrong: the list of waiters is beside the word, in the header, so that who wakes reads
/// what the waiter may have freed by then.
#pragma once

#include <byre/sync/sync.hpp>

#include <cstdint>

#include "../step_of.hpp"

namespace byre::verification {

/// What waits at a share word, over `Base`.
template <sync::Sync Base>
struct ListInHeader : Base {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    using Word = typename Base::template Atomic<std::uint64_t>;
    static_cast<const Word*>(address)->load(step_of<"wakes_through_header.load_waiters">(relaxed));
    Base::unpark_all(address, step);
  }
};

}  // namespace byre::verification
