// SPDX-License-Identifier: BSL-1.0
/// Wrong forms of a Sync (the template parameter that provides atomic operations), for the share
/// word.
#pragma once

#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>
#include <cstdint>

#include "../step_of.hpp"

namespace byre::verification {

/// The list of waiters is in the header, next to the share word. Therefore a thread that wakes a
/// waiter reads memory that the waiter may have freed.
template <sync::Sync Base>
struct ListInHeader : Base {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    using Word = typename Base::template Atomic<std::uint64_t>;
    static_cast<const Word*>(address)->load(step_of<"wakes_through_header.load_waiters">(relaxed));
    Base::unpark_all(address, step);
  }
};

/// The loads that decide whether an owner is the only owner are relaxed.
template <sync::Sync Base>
struct RelaxedLoads : Base {
  template <class Value>
  class Atomic : public Base::template Atomic<Value> {
   public:
    using Base::template Atomic<Value>::Atomic;

    Value load(sync::Step step) const {
      const auto row = [&](cow::ShareWordSite site) {
        return step.site == &cow::share_word_sites.rows[static_cast<std::size_t>(site)];
      };
      if (row(cow::ShareWordSite::is_writable) || row(cow::ShareWordSite::is_unique)) {
        step.order = std::memory_order::relaxed;
      }
      return Base::template Atomic<Value>::load(step);
    }
  };
};

}  // namespace byre::verification
