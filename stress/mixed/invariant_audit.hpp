// SPDX-License-Identifier: BSL-1.0
/// InvariantAudit: checks every storage of a run whose threads are held. Every value reads right, and
/// owners, blocks, deleters and mappings are exactly as many as they have to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "run_state.hpp"

namespace byre::stress {

void check_pool(std::size_t idle_nbytes, std::size_t limit_nbytes, Failures& failures);

/// While no thread runs.
class InvariantAudit {
 public:
  explicit InvariantAudit(RunResources& run) noexcept : run_(run) {}

  template <class Checked>
  void add(const Checked& checked) {
    checked.with([&](const auto& value) { add_value(value, checked.expected()); });
    if (checked.storage() != nullptr) {
      expect_equal("handles of a storage", checked.storage()->handle_count(), checked.handles());
    }
  }

  /// The shared slots and the mailboxes.
  template <sync::Sync Sync, template <class> class Share>
  void add_shared(RunState<Sync, Share>& state) {
    state.shared_slots.for_each([&](const auto& entry) {
      add_value(entry.storage, entry.expected);
      expect_equal("handles of a storage in a shared slot", entry.storage.handle_count(), 1);
    });
    for (auto& mailbox : state.mailboxes) {
      for (const auto& checked : mailbox.values()) {
        add(checked);
      }
    }
  }

  /// When all values are added. `adopted` is how many adoptions there ever were.
  void check(std::uint64_t adopted);

 private:
  /// The owners of some data, by its address.
  struct Owned {
    std::uint32_t use_count;
    std::uint32_t owners = 0;
    Origin origin;
    const Allocator* allocator;
  };

  template <class Value>
  void add_value(const Value& value, Content expected) {
    Owned& owned = data_[value.data()];
    owned = {value.use_count(), owned.owners + 1, value.origin(), &value.allocator()};
    check_value(value.is_unique(), value.use_count(), value.origin(), value.data(), value.nbytes(),
                expected);
  }
  void check_value(bool is_unique, std::uint32_t use_count, Origin origin, const std::byte* data,
                   std::size_t nbytes, Content expected);
  void expect_equal(const char* what, std::uint64_t found, std::uint64_t expected);

  RunResources& run_;
  std::unordered_map<const std::byte*, Owned> data_;
};

}  // namespace byre::stress
