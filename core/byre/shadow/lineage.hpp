// SPDX-License-Identifier: BSL-1.0
/// Lineage: what hangs on a storage once a reshape that is watched linked two families on it.
#pragma once

#include <byre/error/assert.hpp>
#include <byre/shadow/generation.hpp>
#include <byre/shadow/shadow_storage.hpp>
#include <byre/shadow/tally.hpp>
#include <byre/storage/attachment.hpp>
#include <byre/storage/storage.hpp>

namespace byre::inline v0::shadow {

/// Thread-safety: as of its parts.
struct Lineage final : Attachment {
  Lineage() noexcept : Attachment(AttachmentKind::lineage) {}

  StorageGeneration generation;
  /// Of tensors that no reshape that is watched made.
  ShadowStorage default_family;
  /// Raw pointers to write through that left while the storage was tracked.
  Tally unaudited;

  ShadowStorage& family(ShadowStorage* shadow) noexcept {
    return shadow == nullptr ? default_family : *shadow;
  }
};

/// Of what hangs on a storage, which can be nothing else there.
inline Lineage& as_lineage(Attachment& attachment) noexcept {
  BYRE_ASSERT(attachment.kind() == AttachmentKind::lineage,
              "something else is attached to the storage of a tensor, whose place that is");
  return static_cast<Lineage&>(attachment);
}

/// Null for a storage that no watched reshape met. Wait-free; safe beside anything.
inline Lineage* lineage_of(const Storage& storage) noexcept {
  Attachment* const attached = storage.attachment();
  return attached == nullptr ? nullptr : &as_lineage(*attached);
}

}  // namespace byre::inline v0::shadow
