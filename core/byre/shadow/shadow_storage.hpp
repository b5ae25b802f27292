// SPDX-License-Identifier: BSL-1.0
/// ShadowStorage: what the tensors of one view family have in common, beside the storage that families
/// linked by a reshape share.
#pragma once

#include <byre/shadow/generation.hpp>
#include <byre/shadow/write_mark.hpp>
#include <byre/storage/detail/ref_count.hpp>
#include <byre/sync/boost.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace byre::inline v0::shadow {

/// Thread-safety: handles as std::shared_ptr; the generation as it says.
/// Source: the seed "Copy-on-write motivation".
class ShadowStorage {
 public:
  /// Of the family that a storage begins with.
  ShadowStorage() noexcept = default;
  /// Of the family that `reshape` made out of the one of `origin`. Has one handle.
  ShadowStorage(const ShadowStorage& origin, PlaceId reshape) noexcept
      : generation(origin.generation), reshape_(reshape), known_at_first_(generation.known()) {}
  ShadowStorage(const ShadowStorage&) = delete;
  ShadowStorage& operator=(const ShadowStorage&) = delete;

  /// The place of the reshape that made the family; 0 for the one a storage begins with.
  PlaceId reshape() const noexcept { return reshape_; }

  /// What the family knew when it was made.
  WriteMark known_at_first() const noexcept { return known_at_first_; }

  FamilyGeneration generation;
  /// Where a raw pointer to write through left last, at first nowhere. Of the family's writes alone.
  PlaceId last_escape = WriteMark::max_place + 1;

 private:
  // Not inline: few tensors have one, and those that have none are not to make room for this.
  friend void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
  friend void intrusive_ptr_release(ShadowStorage* shadow) noexcept;

  const PlaceId reshape_ = 0;
  const WriteMark known_at_first_{};
  basic_ref_count<sync::Boost> handles_;
};

[[gnu::cold]] void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
[[gnu::cold]] void intrusive_ptr_release(ShadowStorage* shadow) noexcept;

using ShadowHandle = boost::intrusive_ptr<ShadowStorage>;

}  // namespace byre::inline v0::shadow
