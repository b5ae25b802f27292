// SPDX-License-Identifier: BSL-1.0
/// Looks at every storage of a paused world: all that is owned reads right, and owners, blocks,
/// deleters and mappings add up exactly.
#pragma once

#include <byre/memory/pool.hpp>
#include <byre/stats/counters.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "world.hpp"

namespace byre::stress {

inline void check_pool(std::size_t idle_nbytes, std::size_t limit_nbytes, Failures& failures) {
  if (idle_nbytes > limit_nbytes) {
    failures.add("a pool keeps " + std::to_string(idle_nbytes) + " bytes, beyond its limit of " +
                 std::to_string(limit_nbytes));
  }
}

/// While no thread does anything.
template <sync::Sync Sync, template <class> class Share>
class Census {
 public:
  explicit Census(World<Sync, Share>& world) noexcept : world_(world) {}

  template <class Item>
  void count(const Item& item) {
    item.with([&](const auto& value) { count_value(value, item.expected()); });
    if (item.storage() != nullptr) {
      expect_equal("handles of a storage", item.storage()->handle_count(), item.handles());
    }
  }

  /// The board and the mailboxes.
  void count_shared() {
    world_.board.for_each([&](const auto& posted) {
      count_value(posted.storage, posted.expected);
      expect_equal("handles of a storage on the board", posted.storage.handle_count(), 1);
    });
    for (auto& mailbox : world_.mailboxes) {
      for (const auto& item : mailbox.items()) {
        count(item);
      }
    }
  }

  /// When all are counted. `adopted` is how many ever were.
  void check(std::uint64_t adopted) {
    std::uint64_t blocks = 0;
    std::uint64_t adopted_now = 0;
    std::ptrdiff_t mapped = 0;
    for (const auto& [data, found] : data_) {
      expect_equal("owners of some data", found.use_count, found.owners);
      const bool is_adopted = found.origin == Origin::adopted;
      adopted_now += is_adopted ? 1 : 0;
      mapped += found.origin == Origin::mapped ? 1 : 0;
      const bool is_ours =
          found.origin == Origin::allocated && found.allocator == &world_.allocator;
      blocks += is_adopted || is_ours ? 1 : 0;
    }
    expect_equal("blocks that are out", world_.accounts.blocks_out(), blocks);
    expect_equal("deleters called", world_.deleter_calls.load(), adopted - adopted_now);
    if (const auto mappings = mappings_of(world_.files.folder()); mappings >= 0) {
      expect_equal("mappings of files", mappings, mapped);
    }
    for (const RecyclingPool* pool : {world_.pool.get(), &default_pool()}) {
      check_pool(pool->idle_nbytes(), pool->limit_nbytes(), world_.failures);
    }
  }

 private:
  /// Some data, by its address.
  struct Found {
    std::uint32_t use_count;
    std::uint32_t owners = 0;
    Origin origin;
    const Allocator* allocator;
  };

  template <class Value>
  void count_value(const Value& value, Content expected) {
    auto [place, is_new] = data_.try_emplace(value.data());
    Found& found = place->second;
    found.use_count = value.use_count();
    found.origin = value.origin();
    found.allocator = &value.allocator();
    ++found.owners;
    if (value.is_unique() != (value.use_count() == 1)) {
      world_.failures.add("some data is unique though it has other owners, or the reverse");
    }
    if (const auto fault = fault_in(value.data(), value.nbytes(), expected)) {
      world_.failures.add("with all threads paused, a storage is " + *fault);
    }
  }

  template <class Found, class Due>
  void expect_equal(const char* what, Found found, Due due) {
    if (static_cast<std::int64_t>(found) != static_cast<std::int64_t>(due)) {
      world_.failures.add(std::string(what) + ": " + std::to_string(found) + ", and have to be " +
                          std::to_string(due));
    }
  }

  World<Sync, Share>& world_;
  std::unordered_map<const std::byte*, Found> data_;
};

}  // namespace byre::stress
