// SPDX-License-Identifier: BSL-1.0
/// Slots: where a thread keeps its own values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "decision.hpp"

namespace byre::stress {

/// Two at least: some operations need two. Used by one thread.
template <class Value>
class Slots {
 public:
  using Slot = std::optional<Value>;

  explicit Slots(const Settings& settings) : slots_(slots_of_each(settings)) {}

  Slot& of(const Decision& decision) noexcept { return slots_[decision.slot % slots_.size()]; }
  /// Another one.
  Slot& other_of(const Decision& decision) noexcept {
    const std::size_t distance = 1 + decision.other % (slots_.size() - 1);
    return slots_[(decision.slot + distance) % slots_.size()];
  }

  /// Releases the old value first.
  static Value& put(Slot& slot, Value&& value) noexcept {
    slot.reset();
    return slot.emplace(std::move(value));
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
