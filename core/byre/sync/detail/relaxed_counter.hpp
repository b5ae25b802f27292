// SPDX-License-Identifier: BSL-1.0
/// A number that all threads may change and that orders nothing: a count, a flag or a choice.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

namespace byre::inline v0::sync::detail {

enum class RelaxedCounterSite : std::uint8_t { add, subtract, value, set };

inline constexpr SiteTable<RelaxedCounterSite, 4> relaxed_counter_sites{{{
    {"relaxed_counter.add", Operation::fetch_add, std::memory_order::relaxed,
     "nothing: the number is all there is to know",
     "relaxed is the weakest order; not atomic, counters_count_all: one is lost"},
    {"relaxed_counter.subtract", Operation::fetch_sub, std::memory_order::relaxed,
     "nothing: the number is all there is to know",
     "relaxed is the weakest order; not atomic, counters_count_all: one is lost"},
    {"relaxed_counter.value", Operation::load, std::memory_order::relaxed,
     "nothing: who is handed what was counted comes after the count",
     "relaxed is the weakest order"},
    {"relaxed_counter.set", Operation::store, std::memory_order::relaxed,
     "nothing: who looks at the same time may come before it",
     "relaxed is the weakest order; left out, counters_are_set: what was there before stays"},
}}};

/// Thread-safe; wait-free. Approximate while others change it, exact for who comes after them.
template <Sync Sync>
class basic_relaxed_counter {
 public:
  constexpr explicit basic_relaxed_counter(std::uint64_t value = 0) noexcept : value_(value) {}

  /// Returns the value before.
  std::uint64_t add() noexcept {
    // Relaxed, and pairs with nothing: the number is all there is to know.
    return value_.fetch_add(1, sites.at(At::add, std::memory_order::relaxed));
  }
  void subtract() noexcept {
    // Relaxed, and pairs with nothing: the number is all there is to know.
    value_.fetch_sub(1, sites.at(At::subtract, std::memory_order::relaxed));
  }
  std::uint64_t value() const noexcept {
    // Relaxed, and pairs with nothing: who is handed what was counted comes after the count.
    return value_.load(sites.at(At::value, std::memory_order::relaxed));
  }
  void set(std::uint64_t value) noexcept {
    // Relaxed, and pairs with nothing: who looks at the same time may come before it.
    value_.store(value, sites.at(At::set, std::memory_order::relaxed));
  }

 private:
  using At = RelaxedCounterSite;
  static constexpr const auto& sites = relaxed_counter_sites;

  typename Sync::template Atomic<std::uint64_t> value_;
};

using RelaxedCounter = basic_relaxed_counter<Boost>;

}  // namespace byre::inline v0::sync::detail
