// SPDX-License-Identifier: BSL-1.0
/// Alias: what tensors that may alias each other have in common: the value of their base, the
/// updates that are not yet applied to it, and the generation.
///
/// A tensor calls three functions of its alias. For x[1].add_(y), in this order:
///   prepare_write()  checks that x[1] may be written, and makes room for the update
///   sync()           returns what x[1] holds now, which add() is computed of
///   write()          records the result as an update, and counts the generation
/// The base and the other views change when they are used: their generation is behind, and sync()
/// applies the updates.
///
/// Invariants, whenever the lock is free:
///   1. The base with all updates applied, in their order, is what a base in memory would hold.
///   2. The generation is the number of writes. It never falls.
///   3. There are fewer updates than AliasBounds allows. At most the first of them sees all of the
///      base. No two have the same geometry.
///   4. A cached view that a link points to belongs to a living tensor whose path ends there. If its
///      generation is the alias's, its value is what the path would replay from the base.
///   5. If writes are tracked, the base differs from what it was only where an update wrote, applied
///      or not; or all of it counts as written.
///
/// Source: the seed "Functionalization"; that updates of one place replace one another, torch_xla.
#pragma once

#include <byre/functional/functionalize/detail/view_path.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/sync/detail/boost_mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::inline v0::functional {

namespace detail {

/// Limits of the aliases that this thread makes, and how often its writes reached them. Tests lower
/// them.
struct AliasBounds {
  std::size_t updates =
      64;  ///< so many are applied at the next write, which costs what a use would
  std::size_t regions = 64;  ///< if more regions are written, all of the base is said to be written
  std::size_t updates_reached = 0;
  std::size_t regions_reached = 0;
};

AliasBounds& alias_bounds() noexcept;

}  // namespace detail

/// Thread-safety: as of a storage. Reads may run at once; a write excludes all else. sync() is a
/// read, although it may apply updates: it does so under the lock, and a second reader waits for
/// elements that it needs anyway. Views are replayed without the lock. Nothing that an alias calls
/// comes back to it.
class Alias final : public Counted {
 public:
  /// A region of the base, and its value.
  struct Region {
    ViewGeometry geometry;
    AnyTensor value;
  };

  /// `level` is of the innermost vmap() whose batch may be written to it.
  explicit Alias(AnyTensor base, FunctionalizeOptions options = {}, BatchLevel level = 0);

  // ---- one write

  /// Makes room for `count` updates. If there would be too many, those that wait are applied:
  /// throws what sync() throws. Throws FunctionalizeError if this was captured, ShapeError if the
  /// path sees elements twice.
  void prepare_write(const ViewPath& path, const char* operation, std::size_t count);
  /// Where `path` leads, the value is now `value`. `cached` is of the tensor that was written.
  /// After prepare_write(), with no other writes since but those it made room for.
  void write(ViewPath path, AnyTensor value, CachedView& cached) noexcept;

  // ---- reads

  /// What a tensor with this path and cached view holds now. It is replayed from the nearest view
  /// before it whose cached value is current, or from the base, to which updates are applied first.
  /// Tensors on the way get their value too: in one generation no link at which a living tensor
  /// ends is replayed twice. Throws what inverses and views throw; updates that were not applied
  /// then still wait.
  AnyTensor sync(const ViewPath& path, CachedView& cached);
  /// The base, with all updates applied. Throws as sync().
  AnyTensor sync_base();
  std::uint64_t generation() const noexcept;

  // ---- what was written

  /// From now on, which regions were written is recorded. `outside` tensors, which are not of the pass,
  /// see the base for as long as this lives. Before it is shared.
  void track_writes(std::size_t outside = 0) noexcept {
    is_all_written_ = false;
    tensors_ += outside;
  }
  /// The base as it was when tracking began, with these written over it in order, is the base as it
  /// is. No update is applied for it. Throws what views throw that are replayed. Without `values`,
  /// parts that would be replayed have none.
  std::vector<Region> written_regions(bool values = true);
  /// How many updates wait.
  std::size_t pending_updates() const noexcept;

  // ---- the tensors that see it

  void add_tensor(const ViewPath& path, CachedView& cached) noexcept;
  void drop_tensor(const ViewPath& path, const CachedView& cached) noexcept;
  /// The next write drops the initial value of this tensor, which is the base's. Before this is
  /// shared.
  void drop_initial_value_at_write(CachedView& first_tensor) noexcept {
    first_tensor_ = &first_tensor;
  }
  std::size_t tensor_count() const noexcept;

  /// The keys of the base.
  KeySet backend() const noexcept { return backend_; }
  bool uses_strides_alone() const noexcept { return strides_; }
  BatchLevel batch_level() const noexcept { return level_; }
  /// It was made of a tensor that the program captured: nobody would see a write. Before it is
  /// shared.
  void set_captured(AnyTensor captured) noexcept { captured_ = std::move(captured); }
  /// That tensor, or none.
  const AnyTensor& captured() const noexcept { return captured_; }

 private:
  struct Update {
    ViewPath path;
    AnyTensor value;
  };

  bool is_current(const CachedView& cached) const noexcept;
  /// And the base, with updates applied, has the same elements there.
  bool is_equal_in_base(const CachedView& cached) const noexcept;
  const AnyTensor& synced_base();
  /// A cached view to replay `path` from, and in `links` the views from there, the last one first.
  CachedView nearest_current(const ViewPath& path, std::vector<const ViewLink*>& links);
  void apply_updates();
  void record_applied(ViewPath path) noexcept;

  const KeySet backend_;
  const bool reapply_views_;
  const bool strides_;
  const BatchLevel level_;
  const std::size_t max_updates_ = detail::alias_bounds().updates;
  const std::size_t max_regions_ = detail::alias_bounds().regions;
  AnyTensor captured_;
  mutable sync::Mutex mutex_;  // of all below
  AnyTensor base_;
  bool is_all_written_ = true;     // or writes are not tracked
  std::vector<ViewPath> applied_;  // of updates that are in the base, each geometry once
  std::vector<Update> updates_;    // in the order in which they were made
  std::uint64_t generation_ = 0;
  std::size_t tensors_ = 0;
  CachedView* first_tensor_ = nullptr;  // whose initial value is still there
};

}  // namespace byre::inline v0::functional
