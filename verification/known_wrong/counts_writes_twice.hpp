// SPDX-License-Identifier: BSL-1.0
/// Generations as the seed says them, and wrong: the storage and each family count writes, an access
/// compares the two counters, and a write bumps them one after the other.
#pragma once

#include <byre/shadow/detail/generation_sites.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <optional>

namespace byre::verification {

enum class CountsWritesTwiceSite : std::uint8_t { place, count, say, bump, known, know };

inline constexpr sync::SiteTable<CountsWritesTwiceSite, 6> counts_writes_twice_sites{{{
    {"counts_writes_twice.place", sync::Operation::load, std::memory_order::acquire},
    {"counts_writes_twice.count", sync::Operation::load, std::memory_order::acquire},
    {"counts_writes_twice.say", sync::Operation::store, std::memory_order::release},
    {"counts_writes_twice.bump", sync::Operation::fetch_add, std::memory_order::acq_rel},
    {"counts_writes_twice.known", sync::Operation::load, std::memory_order::relaxed},
    {"counts_writes_twice.know", sync::Operation::store, std::memory_order::relaxed},
}}};

template <sync::Sync Sync>
class basic_counting_family;

/// In the place of basic_storage_generation.
template <sync::Sync Sync>
class basic_counted_storage {
 public:
  basic_counted_storage() noexcept : place_(0), writes_(0) {}

 private:
  friend class basic_counting_family<Sync>;

  typename Sync::template Atomic<std::uint64_t> place_;
  typename Sync::template Atomic<std::uint64_t> writes_;
};

/// In the place of basic_family_generation.
template <sync::Sync Sync>
class basic_counting_family {
 public:
  using StorageGeneration = basic_counted_storage<Sync>;

  basic_counting_family() noexcept : writes_(0) {}

  shadow::detail::WriteStamp observed() const noexcept {
    return stamp(writes_.load(sites.at(At::known, std::memory_order::relaxed)), 0);
  }

  std::optional<shadow::detail::WriteStamp> stale(const StorageGeneration& storage) const noexcept {
    const std::uint64_t writes =
        storage.writes_.load(sites.at(At::count, std::memory_order::acquire));
    return writes == observed().generation()
               ? std::nullopt
               : std::optional(stamp(
                     writes, storage.place_.load(sites.at(At::place, std::memory_order::acquire))));
  }
  void observe(shadow::detail::WriteStamp write) noexcept { know(write.generation()); }

  std::optional<shadow::detail::WriteStamp> write(StorageGeneration& storage,
                                                  shadow::detail::RecordId record,
                                                  const auto& /*supersedes*/) noexcept {
    const auto last = stale(storage);
    storage.place_.store(record, sites.at(At::say, std::memory_order::release));
    know(1 + storage.writes_.fetch_add(1, sites.at(At::bump, std::memory_order::acq_rel)));
    return last;
  }

 private:
  using At = CountsWritesTwiceSite;
  static constexpr const auto& sites = counts_writes_twice_sites;

  static shadow::detail::WriteStamp stamp(std::uint64_t writes, std::uint64_t record) noexcept {
    return shadow::detail::WriteStamp((writes << shadow::detail::WriteStamp::record_bits) | record);
  }
  void know(std::uint64_t writes) noexcept {
    writes_.store(writes, sites.at(At::know, std::memory_order::relaxed));
  }

  typename Sync::template Atomic<std::uint64_t> writes_;
};

}  // namespace byre::verification
