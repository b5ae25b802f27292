// SPDX-License-Identifier: BSL-1.0
/// The functions by which tensors record reshapes, reads, writes and escapes. A view family is a
/// tensor with its views; its shadow storage holds its tracking state. A tracked reshape links two
/// families on one storage. An escape is the handing out of a raw pointer for writing. If no
/// tracked reshape linked a storage, an access costs one load and one branch.
///
/// The steps of a write:
///   begin_write    reports or throws if the family is stale; nothing has changed yet
///   ...            materializes, and copies if that may fail: an exception here means no write
///   end_write      makes it the storage's last write, and records an escape
///
/// Thread-safety is that of the access itself. Reads and reshapes of one storage may run
/// concurrently, and so may the accesses of different families. The caller must not run a write of
/// a family concurrently with other accesses of that family. Lock-free if no family is stale,
/// except at a call site at which the storage was not written before.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/counted_ptr.hpp>

#include <cstdint>
#include <span>

namespace byre::inline BYRE_ABI::shadow {

/// The state that the tensors of one view family share (shadow_storage.hpp); null for the first
/// family of a storage.
class ShadowStorage;
[[gnu::cold]] BYRE_API void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
[[gnu::cold]] BYRE_API void intrusive_ptr_release(ShadowStorage* shadow) noexcept;
using ShadowHandle = CountedPtr<ShadowStorage>;

namespace detail {

/// An access, or the input of a reshape: its call site and the sizes of the tensor.
struct Access {
  CallSite site;
  std::span<const std::int64_t> sizes;
  bool replaces_all = false;  ///< a write of all elements of the storage
  bool escapes = false;       ///< a raw pointer is handed out; writes through it are not tracked
};

/// Links two view families by a reshape in `mode` (warn or error) that is an alias: makes a new
/// family from that of `origin`, and returns its shadow storage. `from` describes the input,
/// `to_sizes` the output. The storage is tracked from now on. Returns null for a handle without a
/// storage.
///
/// Throws OutOfMemory, or InvalidArgument or FileError if the environment is wrong
/// (apply_environment). After an error, nothing is linked.
ShadowHandle link_by_reshape(const Storage& storage, ShadowStorage* origin, ReshapeMode mode,
                             const Access& from, std::span<const std::int64_t> to_sizes);

/// Whether a tracked reshape linked the storage.
inline bool is_tracked(const Storage& storage) noexcept {
  const auto* const slot = storage.slot();
  return slot != nullptr && slot->has_attachment();
}

/// Whether a raw pointer to write to this storage may be handed out without recording an escape.
/// True only if nothing in the process tracks, or if no tracked reshape linked the storage and
/// either an escape of the storage is recorded already or the mode in force does not track. May
/// return false even if one of these conditions holds. Requires a non-empty handle. Wait-free,
/// except for the first read of the environment.
inline bool can_skip_escape_tracking(const Storage& storage) noexcept {
  return active_tracking.value() == 0 || storage.slot()->has_tag() ||
         (!is_tracked(storage) && !is_tracking());
}

// For an untracked storage, these functions do nothing. Exception: end_write() records an escape if
// the mode in force tracks.

/// Called before a tensor of the family is read. Reports a write by another family that was not
/// reported to this one, or throws ReshapeViolation.
[[gnu::cold]] void record_read(const Storage& storage, ShadowStorage* family, const Access& access);
/// Called before a tensor of the family is written. Reports or throws as record_read() does.
[[gnu::cold]] void begin_write(const Storage& storage, ShadowStorage* family, const Access& access);
/// Called after the tensor was written, or just before if the write can no longer fail. Makes this
/// write the storage's last write, so that other families are stale. Then reports or throws if
/// another family wrote since begin_write().
[[gnu::cold]] void end_write(const Storage& storage, ShadowStorage* family, const Access& access);
/// Called when the family's elements are known to equal the storage's, for example after another
/// family's elements were copied onto themselves. The family is not stale then, and nothing is
/// reported.
[[gnu::cold]] void mark_synced(const Storage& storage, ShadowStorage* family) noexcept;

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::shadow
