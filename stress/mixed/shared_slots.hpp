// SPDX-License-Identifier: BSL-1.0
/// Storages that all threads share. They are read and cloned, never written: const operations on one
/// storage may run concurrently, from its first clone on.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "../content/content.hpp"

namespace byre::stress {

/// Thread-safe. A thread that replaces a storage locks the slot; all others share it.
template <class Storage>
class SharedSlots {
 public:
  struct Entry {
    Storage storage;
    Content expected;
  };

  static constexpr std::size_t count = 8;

  /// Another handle. The others may clone the storage, and replace it in the slot, at the same time.
  Entry read(std::size_t at) {
    Slot& slot = slot_of(at);
    const std::shared_lock lock(slot.mutex);
    return slot.entry;
  }

  /// Calls `clone(storage)` with the one handle that all share.
  template <class Clone>
  Entry clone(std::size_t at, Clone clone) {
    Slot& slot = slot_of(at);
    const std::shared_lock lock(slot.mutex);
    return {clone(std::as_const(slot.entry.storage)), slot.entry.expected};
  }

  /// Returns the entry before, to be released without the lock.
  Entry replace(std::size_t at, Entry entry) {
    Slot& slot = slot_of(at);
    const std::unique_lock lock(slot.mutex);
    std::swap(slot.entry, entry);
    return entry;
  }

  /// While no other thread uses it.
  template <class Visit>
  void for_each(Visit visit) {
    for (Slot& slot : slots_) {
      if (slot.entry.storage) {
        visit(slot.entry);
      }
    }
  }

 private:
  struct Slot {
    std::shared_mutex mutex;
    Entry entry;
  };

  Slot& slot_of(std::size_t at) noexcept { return slots_[at % count]; }

  std::array<Slot, count> slots_;
};

}  // namespace byre::stress
