// SPDX-License-Identifier: BSL-1.0
/// What tensors say to the shadow storages: that they were reshaped, read, written, or that a raw
/// pointer left. A storage that no watched reshape met costs one load and one branch; a pointer to write
/// that leaves it does so while nothing in the process is watched.
///
/// Thread-safety: as of the access itself. Reads and reshapes of one storage may be at once, and what
/// different families do; a write of a family excludes what else that family does. Lock-free where
/// families agree and the place was met before, unless backtraces are kept; a violation locks.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/shadow/lineage.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/shadow/report.hpp>
#include <byre/shadow/shadow_storage.hpp>
#include <byre/shadow/trail.hpp>
#include <byre/storage/storage.hpp>

#include <cstdint>
#include <span>

namespace byre::inline v0::shadow {

/// An access, or the input of a reshape: the line of it, and the sizes of the tensor.
struct Access {
  CallSite site;
  std::span<const std::int64_t> sizes;
  bool is_of_all = false;  ///< there is in the storage: a write leaves nothing of what was there
};

namespace detail {

[[gnu::cold]] void read_tracked(Lineage& lineage, ShadowStorage& family, const Access& access);
[[gnu::cold]] void expect_agreement(Lineage& lineage, ShadowStorage& family, const Access& access);
[[gnu::cold]] void write_tracked(Lineage& lineage, ShadowStorage& family, const Access& access);
[[gnu::cold]] void written_tracked(Lineage& lineage, ShadowStorage& family, const Access& access);
[[gnu::cold]] void escape_tracked(Lineage& lineage, ShadowStorage& family) noexcept;
[[gnu::cold]] void rejoin_tracked(Lineage& lineage, ShadowStorage& family) noexcept;
[[gnu::cold]] void note_escape(const Storage& storage, const Access& access) noexcept;
/// No watched reshape met the storage, and the mode in force on this thread does not watch.
bool is_of_nobody_s_concern(const Storage& storage) noexcept;

/// What a thread noted last of a storage that no watched reshape met: that the trail has the line. The
/// name of its file is known by its address alone: one that changes where it stands is taken for the same.
struct NotedEscape {
  TrailId trail = 0;
  CallSite site{};
};
BYRE_TLS_MODEL extern constinit thread_local NotedEscape last_noted_escape;

}  // namespace detail

/// Whether a raw pointer to write may leave this storage with nothing said: nothing in the process is
/// watched; or no watched reshape met the storage, and the mode in force on this thread does not watch, or
/// that a pointer left by this line is noted already. May be false where it could be true. The handle is
/// not empty. Wait-free, but for the first look into the environment.
inline bool may_escape_unsaid(const Storage& storage, const CallSite& site) noexcept {
  const detail::NotedEscape& last = detail::last_noted_escape;
  return detail::watch_count.is_none() || (storage.is_noted(last.trail) && last.site == site) ||
         detail::is_of_nobody_s_concern(storage);
}

/// The shadow storage of a tensor that a reshape in `mode` (warn or error) makes, as an alias, of one
/// in the family of `origin` (null: the one a storage begins with). `from` is the input's, `to_sizes`
/// are the output's. The storage is watched from now on. Null for a handle without a storage.
///
/// Throws OutOfMemory; InvalidArgument if something else is attached to the storage; that and FileError
/// if the environment is wrong (environment.hpp). Nothing is linked then.
ShadowHandle link_by_reshape(const Storage& storage, ShadowStorage* origin, ReshapeMode mode,
                             const Access& from, std::span<const std::int64_t> to_sizes);

/// A tensor of the family (null: the default one) is about to be read. Reports a write by another
/// family that it was not told of, or throws ReshapeViolation.
inline void on_read(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::read_tracked(*lineage, lineage->family(family), access);
  }
}

/// For a write that does something else first that would have to be undone: reports or throws what
/// on_write would, which is to follow, and then does not unless another family wrote in between.
inline void expect_agreement(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::expect_agreement(*lineage, lineage->family(family), access);
  }
}

/// A tensor of the family is about to be written: other families are told when they access next.
/// Reports a write by another family that this one was not told of, or throws ReshapeViolation and
/// then is not the storage's last write.
inline void on_write(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::write_tracked(*lineage, lineage->family(family), access);
  }
}

/// After a write that could have failed, and before which expect_agreement was called: it is the
/// storage's last in any case. Reports or throws only if another family wrote in between.
inline void on_written(const Storage& storage, ShadowStorage* family, const Access& access) {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::written_tracked(*lineage, lineage->family(family), access);
  }
}

/// A raw pointer to write through left, by the write that on_write was told of last: what is done with
/// it is not seen. Counted once for each line that it leaves by and reshape that it is reached by. Of a
/// storage that no watched reshape met, it is noted if the mode in force on this thread watches, and
/// counted by the first such reshape. Thread-safety: as a write. Lock-free for a place that was met
/// before, unless backtraces are kept; wait-free at the line of the family's last one.
inline void on_escape(const Storage& storage, ShadowStorage* family,
                      const Access& access) noexcept {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::escape_tracked(*lineage, lineage->family(family));
  } else if (storage) {
    detail::note_escape(storage, access);
  }
}

/// The family is told of all there is, silently: its elements are known to be the storage's, as after
/// a copy of another family's onto themselves.
inline void rejoin(const Storage& storage, ShadowStorage* family) noexcept {
  if (Lineage* const lineage = lineage_of(storage)) [[unlikely]] {
    detail::rejoin_tracked(*lineage, lineage->family(family));
  }
}

}  // namespace byre::inline v0::shadow
