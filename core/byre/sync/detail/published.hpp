// SPDX-License-Identifier: BSL-1.0
/// Published: a pointer to an object that is created once, under a lock, and then read without a
/// lock.
#pragma once

#include <byre/sync/default.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

enum class PublishedSite : std::uint8_t { get, set };

inline constexpr SiteTable<PublishedSite, 2> published_sites{{{
    {"published.get", Operation::load, std::memory_order::acquire},
    {"published.set", Operation::store, std::memory_order::release},
}}};

/// A pointer to an Object, or null. It does not own the object, which must outlive every reader.
/// Thread-safety: get() may be concurrent with everything; calls of set() must not be concurrent
/// with each other. Wait-free; throws nothing.
template <Sync Sync, class Object>
class basic_published {
 public:
  constexpr basic_published() noexcept : address_(0) {}

  Object* get() const noexcept {
    // Acquire pairs with set: the construction of the object happens before its use, or
    // parts_are_found_beside_definitions fails.
    const std::uint64_t address =
        address_.load(sites.at(PublishedSite::get, std::memory_order::acquire));
    return reinterpret_cast<Object*>(static_cast<std::uintptr_t>(address));
  }
  void set(Object* object) noexcept {
    // Release pairs with get: publishes the construction of the object, or
    // parts_are_found_beside_definitions fails.
    address_.store(reinterpret_cast<std::uintptr_t>(object),
                   sites.at(PublishedSite::set, std::memory_order::release));
  }

 private:
  static constexpr const auto& sites = published_sites;

  typename Sync::template Atomic<std::uint64_t> address_;
};

template <class Object>
using Published = basic_published<Default, Object>;

}  // namespace byre::inline BYRE_ABI::sync::detail
