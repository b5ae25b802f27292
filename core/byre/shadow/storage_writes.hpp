// SPDX-License-Identifier: BSL-1.0
/// What is known of the writes to one storage: the last, and of each place the last that was
/// replaced.
#pragma once

#include <byre/shadow/generation.hpp>
#include <byre/shadow/overwritten.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <optional>

namespace byre::inline v0::shadow {

/// Invariant: of the writes that a family does not know of, the last at each place is the storage's
/// last or is noted, unless there was no memory for it. For what a write replaces is noted before
/// it is made, whether it agrees or goes ahead: the family knew of it, or is told of it on the way.
///
/// Thread-safety: as of the families. Lock-free.
template <sync::Sync Sync>
struct basic_storage_writes {
  using Family = basic_family_generation<Sync>;

  basic_storage_generation<Sync> generation;
  basic_overwritten<Sync> overwritten;

  /// Family::write.
  std::optional<WriteMark> write(Family& family, PlaceId place) noexcept {
    keep(family.known(), place);
    return family.write(generation, place);
  }

  /// Family::write_anyway.
  void write_anyway(Family& family, WriteMark known_write, PlaceId place) noexcept {
    family.write_anyway(generation, known_write, place,
                        [&](WriteMark replaced) noexcept { keep(replaced, place); });
  }

  /// Calls `visit(write)` for those up to `last`, but for `last`, that the family does not know of:
  /// of each place the last.
  template <class Visit>
  void for_each_unknown(const Family& family, WriteMark last, const Visit& visit) const {
    overwritten.for_each_between(family.known(), last, visit);
  }

 private:
  /// It is about to be replaced by a write at `place`, which says all there is to say of that
  /// place.
  void keep(WriteMark replaced, PlaceId place) noexcept {
    if (replaced.place() != place && replaced != WriteMark()) {
      overwritten.note(replaced);
    }
  }
};

}  // namespace byre::inline v0::shadow
