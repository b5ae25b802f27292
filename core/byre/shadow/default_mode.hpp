// SPDX-License-Identifier: BSL-1.0
/// The process's default mode of reshape, which any thread may set.
#pragma once

#include <byre/sync/detail/site.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>
#include <optional>

namespace byre::inline v0::shadow {

enum class ReshapeMode : std::uint8_t;

enum class DefaultModeSite : std::uint8_t { get, set };

inline constexpr sync::SiteTable<DefaultModeSite, 2> default_mode_sites{{{
    {"default_mode.get", sync::Operation::load, std::memory_order::relaxed,
     "nothing: the mode is all there is to know", "relaxed is the weakest order"},
    {"default_mode.set", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a reshape at the same time may come before it",
     "relaxed is the weakest order; left out, modes_are_set_beside_reshapes: no mode is set"},
}}};

/// Thread-safe; wait-free.
template <sync::Sync Sync>
class basic_default_mode {
 public:
  constexpr basic_default_mode() noexcept : mode_(none) {}

  std::optional<ReshapeMode> get() const noexcept {
    // Relaxed, and pairs with nothing: the mode is all there is to know.
    const std::uint32_t mode = mode_.load(sites.at(At::get, std::memory_order::relaxed));
    return mode == none ? std::nullopt : std::optional(static_cast<ReshapeMode>(mode));
  }
  void set(std::optional<ReshapeMode> mode) noexcept {
    // Relaxed, and pairs with nothing.
    mode_.store(mode ? static_cast<std::uint32_t>(*mode) : none,
                sites.at(At::set, std::memory_order::relaxed));
  }

 private:
  using At = DefaultModeSite;
  static constexpr const auto& sites = default_mode_sites;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  typename Sync::template Atomic<std::uint32_t> mode_;
};

}  // namespace byre::inline v0::shadow
