// SPDX-License-Identifier: BSL-1.0
/// ShadowStorage, the state that the tensors of one view family share, and TrackingState, the state
/// that a storage gets when a tracked reshape links two families on it.
#pragma once

#include <byre/observe/detail/call_sites.hpp>
#include <byre/shadow/detail/generation.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/shadow/detail/write_records.hpp>
#include <byre/shadow/report.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::shadow::detail {

using stats::detail::interned_site;
using stats::detail::site_at;
using stats::detail::site_id;
using stats::detail::SiteId;

/// Numbers a family among the families of its storage, in the order of their creation. The first
/// family of a storage has the numbers 0, 0.
struct FamilyNumber {
  std::uint32_t number = 0;
  std::uint32_t origin = 0;  ///< the number of the family that it was made from

  std::uint64_t word() const noexcept { return std::uint64_t{number} << 32 | origin; }
  static FamilyNumber of_word(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
};

/// The key of a write's record. `sizes` are stored in a new record, but not compared. A null `site`
/// stands for an unknown call site.
struct WriteKey {
  const CallSite* site;
  std::span<const std::int64_t> sizes;
  const TensorSite& reshape;
};

/// The origin of writes: their call site, and the reshape that made the writing family.
struct WriteOrigin {
  explicit WriteOrigin(const WriteKey& key) noexcept
      : write{.site = key.site == nullptr ? CallSite{} : interned_site(*key.site),
              .shape = Shape(key.sizes)},
        reshape(key.reshape) {}

  bool is(const WriteKey& key) const noexcept {
    return reshape.mode == key.reshape.mode && same_site(reshape.site, key.reshape.site) &&
           same_site(write.site, key.site == nullptr ? CallSite{} : *key.site);
  }

  TensorSite write;
  TensorSite reshape;
};

using WriteRecords = basic_write_records<sync::Default, WriteOrigin>;

}  // namespace byre::inline BYRE_ABI::shadow::detail

namespace byre::inline BYRE_ABI::shadow {

/// The state of one view family. Thread-safety: handles are counted like those of std::shared_ptr;
/// `generation` documents its own thread-safety; the other members are const. Source: the design
/// note "Copy-on-write motivation".
class ShadowStorage {
 public:
  /// For the first family of a storage.
  ShadowStorage() noexcept = default;
  /// For the family that the reshape `made_by` makes from the family of `origin`. The new object
  /// has one handle.
  ShadowStorage(const ShadowStorage& origin, detail::FamilyNumber made, const TensorSite& made_by)
      : generation(origin.generation),
        family(made),
        reshape(made_by),
        observed_at_first(generation.observed()) {}
  ShadowStorage(const ShadowStorage&) = delete;
  ShadowStorage& operator=(const ShadowStorage&) = delete;

  detail::basic_family_generation<sync::Default> generation;
  const detail::FamilyNumber family{};
  const TensorSite reshape{};  ///< the reshape that made the family
  const detail::WriteStamp observed_at_first{};

 private:
  friend void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
  friend void intrusive_ptr_release(ShadowStorage* shadow) noexcept;

  basic_ref_count<sync::Default> handles_;
};

namespace detail {

/// The tracking state of one storage, attached to the storage's slot. Thread-safety is that of the
/// members. active_tracking counts the living objects.
struct TrackingState final : byre::detail::Attachment {
  TrackingState() noexcept { active_tracking.add(); }
  ~TrackingState() override { active_tracking.subtract(); }

  basic_storage_generation<sync::Default> generation;
  WriteRecords records;
  ShadowStorage default_family;               ///< of tensors not made by a tracked reshape
  sync::detail::RelaxedCounter families;      ///< number of families that reshapes made so far
  sync::detail::RelaxedCounter escapes;       ///< how often a raw pointer to write escaped
  sync::detail::RelaxedCounter first_escape;  ///< the SiteId of the first escape
};

/// Null if no tracked reshape linked the storage. Wait-free; safe concurrently with any other call.
inline TrackingState* tracking_state_of(const Storage& storage) noexcept {
  const auto* const slot = storage.slot();
  return slot == nullptr ? nullptr : static_cast<TrackingState*>(slot->attachment());
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::shadow
