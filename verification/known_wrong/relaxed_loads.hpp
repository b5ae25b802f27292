// SPDX-License-Identifier: BSL-1.0
/// Atomics, wrong: whoever asks whether it is alone reads the share word relaxed.
#pragma once

#include <byre/cow/detail/share_word_sites.hpp>
#include <byre/sync/sync.hpp>

#include <cstddef>

namespace byre::verification {

/// For the share word, over `Base`.
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
