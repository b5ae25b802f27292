// SPDX-License-Identifier: BSL-1.0
/// basic_ref_count: the number of handles to an object, for CountedPtr. It is stored in
/// the object.
#pragma once

#include <byre/error/detail/assert.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

namespace detail {

enum class RefCountSite : std::uint8_t { add, drop, end, count };

inline constexpr sync::SiteTable<RefCountSite, 4> ref_count_sites{{{
    {"ref_count.add", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"ref_count.drop", sync::Operation::fetch_sub, std::memory_order::acq_rel},
    {"ref_count.end", sync::Operation::store, std::memory_order::relaxed},
    {"ref_count.count", sync::Operation::load, std::memory_order::acquire},
}}};

enum class RefCountConstant : std::uint8_t { last_handle };

inline constexpr sync::ConstantTable<RefCountConstant, 1> ref_count_constants{{{
    {"ref_count.last_handle", 1},
}}};

}  // namespace detail

/// Thread-safe; wait-free; throws nothing.
template <sync::Sync Sync>
class basic_ref_count {
 public:
  /// Counts one handle: the creator of the object must not call add() for it.
  basic_ref_count() noexcept : handles_(1) {}
  basic_ref_count(const basic_ref_count&) = delete;
  basic_ref_count& operator=(const basic_ref_count&) = delete;

  void add() noexcept {
    // Relaxed, and pairs with nothing: the copied handle keeps the object alive. If the step is
    // split into a load and a store, one_handle_is_copied_at_once fails.
    const std::uint32_t before =
        handles_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed));
    BYRE_ASSERT(before < sync::max_count,
                "too many handles to a storage or a tensor: more than 2^30");
  }

  /// Returns true iff that was the last handle. The caller then has to destroy the object.
  [[nodiscard]] bool drop() noexcept {
    // The only handle may skip the atomic decrement: no other thread can copy or drop a handle.
    if (count() == last_handle) {
      // Relaxed, and pairs with nothing: only a second drop of the handle reads this. Without this
      // store, no_handle_is_left fails.
      handles_.store(0, sites.at(At::end, std::memory_order::relaxed));
      return true;
    }
    // Release pairs with count: use through this handle happens before use through the handle that
    // remains as the only one, or handles_race_handles fails. Acquire pairs with the releases of
    // the other drops: use through those handles happens before the destruction, or
    // last_handles_race fails.
    const std::uint32_t before =
        handles_.fetch_sub(1, sites.at(At::drop, std::memory_order::acq_rel));
    BYRE_ASSERT(before != 0,
                "a handle to a storage or a tensor was released more often than it was copied");
    return before == last_handle;
  }

  std::uint32_t count() const noexcept {
    // Acquire pairs with drop: use through dropped handles happens before use through the only
    // handle, and before the destruction, or handles_race_handles and last_handles_race fail.
    return handles_.load(sites.at(At::count, std::memory_order::acquire));
  }

 private:
  using At = detail::RefCountSite;
  static constexpr const auto& sites = detail::ref_count_sites;
  static constexpr auto last_handle =
      Sync::value_of(detail::ref_count_constants.at(detail::RefCountConstant::last_handle));

  typename Sync::template Atomic<std::uint32_t> handles_;
};

}  // namespace byre::inline BYRE_ABI
