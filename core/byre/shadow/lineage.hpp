// SPDX-License-Identifier: BSL-1.0
/// Lineage: what hangs on a storage once a reshape that is watched linked two families on it.
#pragma once

#include <byre/shadow/escapes.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/shadow_storage.hpp>
#include <byre/shadow/storage_writes.hpp>
#include <byre/storage/detail/attachment.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/boost.hpp>

namespace byre::inline v0::shadow {

/// Thread-safety: as of its parts. While there is one, there is a reason to watch.
struct Lineage final : Attachment {
  Lineage() noexcept : Attachment(AttachmentKind::lineage) { detail::watch_count.add(); }
  ~Lineage() override { detail::watch_count.drop(); }

  basic_storage_writes<sync::Boost> writes;
  /// Of tensors that no reshape that is watched made.
  ShadowStorage default_family;
  basic_escapes<sync::Boost> escapes;

  ShadowStorage& family(ShadowStorage* shadow) noexcept {
    return shadow == nullptr ? default_family : *shadow;
  }
};

/// Null for what else hangs on a storage.
inline Lineage* as_lineage(Attachment& attachment) noexcept {
  return attachment.kind() == AttachmentKind::lineage ? static_cast<Lineage*>(&attachment)
                                                      : nullptr;
}

/// Null for a storage that no watched reshape met. Wait-free; safe beside anything.
inline Lineage* lineage_of(const Storage& storage) noexcept {
  Attachment* const attached = storage.attachment();
  return attached == nullptr ? nullptr : as_lineage(*attached);
}

}  // namespace byre::inline v0::shadow
