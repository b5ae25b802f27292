// SPDX-License-Identifier: BSL-1.0
/// An Alias is the state that a base and its views share. It consists of the value of the base, the
/// pending updates (writes that are recorded but not yet applied to the base), and the generation
/// (the number of writes).
///
/// A tensor calls three functions of its alias. For x[1].add_(y), in this order:
///
/// 1. prepare_write() checks that x[1] may be written, and reserves space for the update.
/// 2. sync() returns the current value of x[1], which add() reads.
/// 3. write() records the result as an update and increments the generation.
///
/// The base and the other views get their new values at their next use: sync() finds that the
/// generation of their cached value is older than the alias's generation, and applies the updates.
///
/// Invariants, whenever the lock is free:
///
/// 1. The base with all updates applied, in order, equals the base that the program would compute
///    in memory without the pass.
/// 2. The generation is the number of writes. It never decreases.
/// 3. There are fewer updates than AliasBounds::updates, unless a single operator wrote that many
///    tensors. Only the first update may cover all of the base. No two updates have equal
///    geometries.
/// 4. A cached view that a link points to belongs to a living tensor whose path ends at the link.
///    If the generation of the cached view is the alias's generation, its value equals the path
///    replayed from the base with all updates applied. Only bytes written over bools may differ:
///    see is_equal_in_base().
/// 5. If writes are tracked, either all of the base counts as written, or the base with all updates
///    applied differs from the initial base only in regions of applied or pending updates.
///
/// Sources: the design note "Functionalization"; torch_xla for updates that replace earlier updates
/// of one region.
#pragma once

#include <byre/functional/functionalize/detail/view_path.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

namespace detail {

/// Limits of the aliases that this thread creates, and how often writes by this thread reached such
/// limits. Tests lower the limits.
struct AliasBounds {
  /// If a write would raise the number of updates to this number, it first applies the pending
  /// updates, which costs as much as a use of the base.
  std::size_t updates = 64;
  std::size_t regions = 64;  ///< if more regions are written, all of the base counts as written
  std::size_t updates_reached = 0;
  std::size_t regions_reached = 0;
};

AliasBounds& alias_bounds() noexcept;

}  // namespace detail

/// Thread-safety: that of a storage. Reads may run concurrently; the caller must not run a write
/// concurrently with any other use. sync() is a read, although it may apply updates: it holds the
/// lock meanwhile. A second reader waits until the updates are applied, because it needs them too.
/// sync() replays views without the lock. No function that an alias calls under its lock calls the
/// alias, so the lock cannot deadlock.
class Alias final : public Counted {
 public:
  /// A region of the base, and its value.
  struct Region {
    ViewGeometry geometry;
    AnyTensor value;
  };

  /// `level` is the level of the innermost vmap() whose batch may be written to the base.
  explicit Alias(AnyTensor base, FunctionalizeOptions options = {}, BatchLevel level = 0);

  // ---- recording a write

  /// Reserves space for `count` updates. If there would be too many, first applies the pending
  /// updates, as sync() does. Throws the errors of sync(), FunctionalizeError if the alias was
  /// captured, ShapeError if the path sees an element twice.
  void prepare_write(const ViewPath& path, const char* operation, std::size_t count);
  /// Sets the region of `path` to `value`. `cached` is the cached view of the written tensor.
  /// Requires a call of prepare_write() before, and no writes since then except those that
  /// prepare_write() reserved.
  void write(ViewPath path, AnyTensor value, CachedView& cached) noexcept;

  // ---- reads

  /// Returns the current value of a tensor with this path and cached view. The value is replayed
  /// from the nearest earlier view that has a current cached value. If no earlier view has one, the
  /// updates are applied and the value is replayed from the base. Tensors whose paths end at the
  /// views in between get their values too. Within one generation, a thread therefore replays a
  /// link at most once if the path of a living tensor ends at the link. Throws the errors of
  /// inverses and views; updates that were not applied remain pending.
  AnyTensor sync(const ViewPath& path, CachedView& cached);
  /// Applies all updates and returns the base. Throws the errors of sync().
  AnyTensor sync_base();
  std::uint64_t generation() const noexcept;

  // ---- written regions

  /// Starts recording which regions are written. `outside` is the number of tensors outside the
  /// pass that view the base. They count as tensors of the alias as long as the alias lives.
  /// Requires that the alias is not shared yet.
  void track_writes(std::size_t outside = 0) noexcept {
    is_all_written_ = false;
    tensors_ += outside;
  }
  /// Returns the written regions in an order such that writing them to the initial base gives the
  /// current base. Applies no update. Throws the errors of replayed views. If `values` is false,
  /// regions that would need a replay have no value.
  std::vector<Region> written_regions(bool values = true);
  /// The number of pending updates.
  std::size_t pending_updates() const noexcept;

  // ---- the tensors of the alias

  void add_tensor(const ViewPath& path, CachedView& cached) noexcept;
  void drop_tensor(const ViewPath& path, const CachedView& cached) noexcept;
  /// The next write drops the initial value of `first_tensor`, which equals the base until then.
  /// Requires that the alias is not shared yet.
  void drop_initial_value_at_write(CachedView& first_tensor) noexcept {
    first_tensor_ = &first_tensor;
  }
  std::size_t tensor_count() const noexcept;

  /// The keys of the base.
  KeySet backend() const noexcept { return backend_; }
  bool uses_strides_alone() const noexcept { return strides_; }
  BatchLevel batch_level() const noexcept { return level_; }
  /// Marks the alias as created from a captured tensor: a write to it would be lost. Requires that
  /// the alias is not shared yet.
  void set_captured(AnyTensor captured) noexcept { captured_ = std::move(captured); }
  /// The captured tensor, or an empty handle.
  const AnyTensor& captured() const noexcept { return captured_; }

 private:
  struct Update {
    ViewPath path;
    AnyTensor value;
  };

  bool is_current(const CachedView& cached) const noexcept;
  /// Whether `cached` is current and equals the region of its tensor in the base after all updates
  /// are applied.
  bool is_equal_in_base(const CachedView& cached) const noexcept;
  const AnyTensor& synced_base();
  /// Returns a cached view to replay `path` from, and in `links` the views after it, the last one
  /// first.
  CachedView nearest_current(const ViewPath& path, std::vector<const ViewLink*>& links);
  void apply_updates();
  std::vector<Region> written_regions_locked(bool values);
  void record_applied(ViewPath path) noexcept;

  const KeySet backend_;
  const bool reapply_views_;
  const bool strides_;
  const BatchLevel level_;
  const std::size_t max_updates_ = detail::alias_bounds().updates;
  const std::size_t max_regions_ = detail::alias_bounds().regions;
  AnyTensor captured_;
  mutable sync::Mutex mutex_;  // guards all members below
  AnyTensor base_;
  bool is_all_written_ = true;     // also true if writes are not tracked
  std::vector<ViewPath> applied_;  // paths of the applied updates, each geometry once
  std::vector<Update> updates_;    // in program order
  std::uint64_t generation_ = 0;
  std::size_t tensors_ = 0;
  CachedView* first_tensor_ = nullptr;  // set while this tensor holds the initial value
};

}  // namespace byre::inline BYRE_ABI::functional
