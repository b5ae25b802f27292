// SPDX-License-Identifier: BSL-1.0
/// What tensors record with the shadow storages: reshapes, reads, writes, and raw pointers to write that
/// leave. A storage that no tracked reshape linked costs one load and one branch.
///
/// A write, from before it changes anything until it is done:
///   begin_write    reports or throws, if the family is stale
///   ...            materializes, and copies where that may fail: an exception here means no write
///   end_write      makes it the storage's last write, and records an escape
///
/// Thread-safety: as of the access itself. Reads and reshapes of one storage may be at once, and what
/// different families do; a write of a family excludes what else that family does. Lock-free where no
/// family is stale, but at a call site that the storage was not written at before.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/storage/storage.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <span>

namespace byre::inline v0::shadow {

/// What the tensors of one view family have in common (storage_shadow.hpp); null for the family that a
/// storage begins with.
class ShadowStorage;
[[gnu::cold]] BYRE_API void intrusive_ptr_add_ref(ShadowStorage* shadow) noexcept;
[[gnu::cold]] BYRE_API void intrusive_ptr_release(ShadowStorage* shadow) noexcept;
using ShadowHandle = boost::intrusive_ptr<ShadowStorage>;

namespace detail {

/// An access, or the input of a reshape: its call site, and the sizes of the tensor.
struct Access {
  CallSite site;
  std::span<const std::int64_t> sizes;
  bool replaces_all = false;  ///< a write of all there is in the storage
  bool escapes = false;  ///< a write through a raw pointer that leaves: what it writes is not seen
};

/// Links, by a reshape in `mode` (warn or error) that is an alias, a new family with that of `origin`,
/// and returns its shadow storage. `from` is the input's, `to_sizes` are the output's. The storage is
/// tracked from now on. Null for a handle without a storage.
///
/// Throws OutOfMemory; InvalidArgument and FileError if the environment is wrong (apply_environment).
/// Nothing is linked then.
ShadowHandle link_by_reshape(const Storage& storage, ShadowStorage* origin, ReshapeMode mode,
                             const Access& from, std::span<const std::int64_t> to_sizes);

/// Whether a tracked reshape linked the storage.
inline bool is_tracked(const Storage& storage) noexcept {
  const auto* const slot = storage.slot();
  return slot != nullptr && slot->has_attachment();
}

/// Whether a raw pointer to write may leave this storage with nothing recorded. Nothing in the process
/// tracks; or no tracked reshape linked the storage, and an escape of it is recorded already, or the mode
/// in force does not track. Returns a false negative at worst. The handle is not empty. Wait-free, but
/// for the first look at the environment.
inline bool can_skip_escape_tracking(const Storage& storage) noexcept {
  return active_tracking.value() == 0 || storage.slot()->has_tag() ||
         (!is_tracked(storage) && !is_tracking());
}

// None of these does anything for a storage that is not tracked, but that end_write records an escape
// if the mode in force tracks.

/// A tensor of the family is about to be read. Reports a write by another family that was not reported
/// to it, or throws ReshapeViolation.
[[gnu::cold]] void record_read(const Storage& storage, ShadowStorage* family, const Access& access);
/// A tensor of the family is about to be written. The same.
[[gnu::cold]] void begin_write(const Storage& storage, ShadowStorage* family, const Access& access);
/// It is written, or is going to be now: other families are stale. Reports, or throws, once it is the
/// storage's last write, if another family wrote since begin_write.
[[gnu::cold]] void end_write(const Storage& storage, ShadowStorage* family, const Access& access);
/// The family's elements are known to be the storage's, as after a copy of another family's onto
/// themselves: it is not stale, and nothing is reported.
[[gnu::cold]] void mark_synced(const Storage& storage, ShadowStorage* family) noexcept;

}  // namespace detail
}  // namespace byre::inline v0::shadow
