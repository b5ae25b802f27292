// SPDX-License-Identifier: BSL-1.0
/// Where a thread keeps its own storages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "decision.hpp"

namespace byre::stress {

/// Two at least, since an operation may need two. One thread's.
template <class Item>
class Slots {
 public:
  using Slot = std::optional<Item>;

  explicit Slots(const Settings& settings) : slots_(slots_of_each(settings)) {}

  Slot& of(const Decision& decision) noexcept { return slots_[decision.slot % slots_.size()]; }
  /// Never the same.
  Slot& other_of(const Decision& decision) noexcept {
    const std::size_t distance = 1 + decision.other % (slots_.size() - 1);
    return slots_[(decision.slot + distance) % slots_.size()];
  }

  /// Releases what was there first.
  static Item& put(Slot& slot, Item&& item) noexcept {
    slot.reset();
    return slot.emplace(std::move(item));
  }

  std::size_t size() const noexcept { return slots_.size(); }
  void clear() noexcept { std::fill(slots_.begin(), slots_.end(), std::nullopt); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot) {
        visit(*slot);
      }
    }
  }

 private:
  std::vector<Slot> slots_;
};

}  // namespace byre::stress
