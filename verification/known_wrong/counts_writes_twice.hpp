// SPDX-License-Identifier: BSL-1.0
/// A wrong form of generations (the stamps by which a view family finds the writes of other
/// families, core/byre/shadow/detail/generation.hpp). It follows the design note "Copy-on-write
/// motivation": the storage and each view family have a counter of writes. An access compares the
/// two counters. A write increments one counter and then the other.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <optional>

#include "../step_of.hpp"

namespace byre::verification {

template <sync::Sync Sync>
class basic_counting_family;

/// Replaces basic_storage_generation.
template <sync::Sync Sync>
class basic_counted_storage {
 public:
  basic_counted_storage() noexcept : place_(0), writes_(0) {}

 private:
  friend class basic_counting_family<Sync>;

  typename Sync::template Atomic<std::uint64_t> place_;
  typename Sync::template Atomic<std::uint64_t> writes_;
};

/// Replaces basic_family_generation.
template <sync::Sync Sync>
class basic_counting_family {
 public:
  using StorageGeneration = basic_counted_storage<Sync>;

  basic_counting_family() noexcept : writes_(0) {}

  shadow::detail::WriteStamp observed() const noexcept {
    return stamp(writes_.load(step_of<"counts_writes_twice.known">(relaxed)), 0);
  }

  std::optional<shadow::detail::WriteStamp> stale(const StorageGeneration& storage) const noexcept {
    const std::uint64_t writes =
        storage.writes_.load(step_of<"counts_writes_twice.count">(acquire));
    return writes == observed().generation()
               ? std::nullopt
               : std::optional(stamp(
                     writes, storage.place_.load(step_of<"counts_writes_twice.place">(acquire))));
  }
  void observe(shadow::detail::WriteStamp write) noexcept { set_known(write.generation()); }

  std::optional<shadow::detail::WriteStamp> write(StorageGeneration& storage,
                                                  shadow::detail::RecordId record,
                                                  const auto& /*supersedes*/) noexcept {
    const auto last = stale(storage);
    storage.place_.store(record, step_of<"counts_writes_twice.set_place">(release));
    set_known(1 + storage.writes_.fetch_add(1, step_of<"counts_writes_twice.increment">(acq_rel)));
    return last;
  }

 private:
  static shadow::detail::WriteStamp stamp(std::uint64_t writes, std::uint64_t record) noexcept {
    return shadow::detail::WriteStamp((writes << shadow::detail::WriteStamp::record_bits) | record);
  }
  void set_known(std::uint64_t writes) noexcept {
    writes_.store(writes, step_of<"counts_writes_twice.set_known">(relaxed));
  }

  typename Sync::template Atomic<std::uint64_t> writes_;
};

}  // namespace byre::verification
