// SPDX-License-Identifier: BSL-1.0
/// Published: what is made once, under a lock, and found from then on without one.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::sync::detail {

enum class PublishedSite : std::uint8_t { get, set };

inline constexpr SiteTable<PublishedSite, 2> published_sites{{{
    {"published.get", Operation::load, std::memory_order::acquire},
    {"published.set", Operation::store, std::memory_order::release},
}}};

/// Where a Part is, or null. It does not own it: what is published outlives all who may find it.
/// Thread-safety: get() at any time; set() by one at a time. Wait-free; nothing throws.
template <Sync Sync, class Part>
class basic_published {
 public:
  constexpr basic_published() noexcept : address_(0) {}

  Part* get() const noexcept {
    // Acquire pairs with set: the part is whole, or parts_are_found_beside_definitions fails.
    const std::uint64_t address =
        address_.load(sites.at(PublishedSite::get, std::memory_order::acquire));
    return reinterpret_cast<Part*>(static_cast<std::uintptr_t>(address));
  }
  void set(Part* part) noexcept {
    // Release pairs with get: the part was made before, or parts_are_found_beside_definitions
    // fails.
    address_.store(reinterpret_cast<std::uintptr_t>(part),
                   sites.at(PublishedSite::set, std::memory_order::release));
  }

 private:
  static constexpr const auto& sites = published_sites;

  typename Sync::template Atomic<std::uint64_t> address_;
};

template <class Part>
using Published = basic_published<Boost, Part>;

}  // namespace byre::inline v0::sync::detail
