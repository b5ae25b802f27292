// SPDX-License-Identifier: BSL-1.0
/// The operations of a storage on its buffer that have to consider a watch (version.hpp): a write
/// ends the watch first, and results show the storage as one owner. A program that never asks for a
/// version pays one relaxed load in writes to shared data, in changes of size, and when a storage
/// is destroyed.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace byre::inline BYRE_ABI {

template <sync::Sync Sync>
inline std::uint64_t basic_storage<Sync>::Identity::version(CallSite site) noexcept {
  const auto access = buffer.monitor_.is_cloned(site);
  const std::uint64_t number = watch.number();
  return number != 0 ? number : new_version(site);
}

template <sync::Sync Sync>
[[gnu::cold]] inline std::uint64_t basic_storage<Sync>::Identity::new_version(
    CallSite site) noexcept {
  auto& header = buffer.header();
  if (!header.has_data()) {
    return 0;
  }
  if (!header.is_shareable() || pins.any()) {
    return detail::basic_version_numbers<Sync>::draw();
  }
  header.becomes_shared(site);
  return watch.begin(header.share());
}

template <sync::Sync Sync>
[[gnu::always_inline]] inline bool basic_storage<Sync>::Identity::end_watch() noexcept {
  return watch.end(buffer.header().share());
}

/// As Buffer::materialize(). Looks for a watch only if the share word differs from 1.
template <sync::Sync Sync>
[[gnu::always_inline]] inline Materialized basic_storage<Sync>::Identity::materialize(
    Wait wait, CallSite site) {
  const auto access = buffer.monitor_.writes(site);
  if (!buffer.becomes_unique(site)) [[unlikely]] {
    if (!end_watch() || !buffer.becomes_unique(site)) {
      return buffer.copy_or_steal(wait, site);
    }
  }
  return Materialized::already_unique;
}

template <sync::Sync Sync>
[[gnu::always_inline]] inline std::byte* basic_storage<Sync>::Identity::mutable_data(
    Wait wait, CallSite site) {
  materialize(wait, site);
  return static_cast<std::byte*>(buffer.data_.get());
}

/// As Buffer::lazy_clone(), but a recording counts a watched storage as one owner.
template <sync::Sync Sync>
[[gnu::always_inline]] inline basic_buffer<Sync> basic_storage<Sync>::Identity::lazy_clone(
    CallSite site) const {
  return Buffer(buffer.share(site, [this]() noexcept { return watch.owners(); }));
}

/// Moves the buffer out. A write.
template <sync::Sync Sync>
inline basic_buffer<Sync> basic_storage<Sync>::Identity::take_buffer() noexcept {
  end_watch();
  return std::move(buffer);
}

template <sync::Sync Sync>
inline bool basic_storage<Sync>::Identity::is_unique(CallSite site) const noexcept {
  // The number of owners is loaded before the word, because publish adds the owner first.
  return buffer.is_unique(site) ||
         (watch.owners() == 2 && std::as_const(buffer).header().share().is_unique(2));
}

template <sync::Sync Sync>
inline std::uint32_t basic_storage<Sync>::Identity::use_count(CallSite site) const noexcept {
  const std::uint32_t own = watch.owners();  // loaded before the word, as in is_unique()
  return buffer.use_count(site) - (own - 1);
}

}  // namespace byre::inline BYRE_ABI
