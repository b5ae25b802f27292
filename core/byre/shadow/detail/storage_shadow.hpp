// SPDX-License-Identifier: BSL-1.0
/// ShadowStorage, which the tensors of one view family have in common, and StorageShadow, which is what
/// a storage has once a tracked reshape linked two families on it.
#pragma once

#include <byre/observe/detail/call_sites.hpp>
#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/shadow/report.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/sync/detail/relaxed_counter.hpp>

#include <cstdint>

namespace byre::inline v0::shadow::detail {

using stats::detail::keep_site;
using stats::detail::site_at;
using stats::detail::site_id;
using stats::detail::SiteId;

/// A family among those of its storage, in the order in which they were made. The family that a storage
/// begins with is 0, 0.
struct FamilyNumber {
  std::uint32_t number = 0;
  std::uint32_t origin = 0;  ///< the number of the family it came out of

  std::uint64_t word() const noexcept { return std::uint64_t{number} << 32 | origin; }
  static FamilyNumber of_word(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
};

/// What a write is recorded by. A null site is one that is not known, of a family of that reshape's mode.
struct WriteKey {
  const CallSite* site;
  std::span<const std::int64_t> sizes;
  const TensorSite& reshape;
};

/// Where writes were made: a call site, and the reshape that made the writing family.
struct WriteOrigin {
  explicit WriteOrigin(const WriteKey& key) noexcept
      : write{.site = key.site == nullptr ? CallSite{} : keep_site(*key.site),
              .shape = Shape(key.sizes)},
        reshape(key.reshape) {}

  bool is(const WriteKey& key) const noexcept {
    return reshape.mode == key.reshape.mode && same_site(reshape.site, key.reshape.site) &&
           same_site(write.site, key.site == nullptr ? CallSite{} : *key.site);
  }

  TensorSite write;
  TensorSite reshape;
};

using WriteRecords = basic_write_records<sync::Boost, WriteOrigin>;

}  // namespace byre::inline v0::shadow::detail

namespace byre::inline v0::shadow {

/// Thread-safety: handles as std::shared_ptr; the generation as it says; the rest is of the family's
/// writes alone. Source: the seed "Copy-on-write motivation".
class ShadowStorage {
 public:
  /// Of the family that a storage begins with.
  ShadowStorage() noexcept = default;
  /// Of the family that `made_by` made out of the one of `origin`. Has one handle.
  ShadowStorage(const ShadowStorage& origin, detail::FamilyNumber made, const TensorSite& made_by)
      : generation(origin.generation),
        family(made),
        reshape(made_by),
        observed_at_first(generation.observed()) {}
  ShadowStorage(const ShadowStorage&) = delete;
  ShadowStorage& operator=(const ShadowStorage&) = delete;

  detail::basic_family_generation<sync::Boost> generation;
  const detail::FamilyNumber family{};
  const TensorSite reshape{};  ///< that made the family
  const detail::WriteStamp observed_at_first{};

 private:
  friend void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
  friend void intrusive_ptr_release(ShadowStorage* shadow) noexcept;

  basic_ref_count<sync::Boost> handles_;
};

namespace detail {

/// In the storage's slot. Thread-safety: as of its parts. While there is one, accesses are tracked.
struct StorageShadow final : byre::detail::Attachment {
  StorageShadow() noexcept { active_tracking.add(); }
  ~StorageShadow() override { active_tracking.subtract(); }

  basic_storage_generation<sync::Boost> generation;
  WriteRecords records;
  ShadowStorage default_family;               ///< of tensors that no tracked reshape made
  sync::detail::RelaxedCounter families;      ///< how many others there were
  sync::detail::RelaxedCounter escapes;       ///< how often raw pointers to write left
  sync::detail::RelaxedCounter first_escape;  ///< the SiteId where the first did
};

/// Null for a storage that no tracked reshape linked. Wait-free; safe beside anything.
inline StorageShadow* shadow_of(const Storage& storage) noexcept {
  const auto* const slot = storage.slot();
  return slot == nullptr ? nullptr : static_cast<StorageShadow*>(slot->attachment());
}

}  // namespace detail
}  // namespace byre::inline v0::shadow
