// SPDX-License-Identifier: BSL-1.0
/// A ViewPath describes how a view is computed from its base. It is either a chain of ViewInfos or
/// a path by strides, which is computed from the view's geometry alone. Each link of a chain points
/// to its predecessor, so views of views share links.
///
/// Two paths of one base with equal geometries see the same elements, no matter which views created
/// them. An update therefore replaces an earlier update of an equal geometry.
#pragma once

#include <byre/functional/functionalize/detail/view_info.hpp>
#include <byre/sync/counted_ptr.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// The value of a tensor of the pass at its last use. Each CachedView is a member of one tensor and
/// never moves. Other tensors replay their views from its value, so the lock of the tensor's alias,
/// if any, guards it.
struct CachedView {
  /// null if not computed yet, or if the tensor is the base, which the alias holds
  AnyTensor value = {};
  std::uint64_t generation = 0;  ///< the alias's generation at the time of computing
  bool is_written = false;       ///< returned by an operator, not replayed
  /// returned by an operator or replayed from such a value: strides may differ from the path's
  bool has_own_strides = false;
  /// The value that the tensor was created from, until the alias is written. Only writes change it,
  /// so reads need no lock.
  AnyTensor initial = {};
};

/// One view of a chain. Immutable except `cached`, and `before` during destruction.
struct ViewLink final : Counted {
  using Handle = CountedPtr<const ViewLink>;

  ViewLink(ViewInfo view, Handle earlier)
      : info(std::move(view)),
        before(std::move(earlier)),
        depth(before == nullptr ? 1 : before->depth + 1) {}
  /// Frees unshared predecessors in a loop: recursion over a long chain would overflow the stack.
  ~ViewLink() override;

  const ViewInfo info;
  mutable Handle before;  ///< null if the view is applied to the base itself
  const std::size_t depth;
  /// The cached value of the tensor that ends here and was used last, or null if it was destroyed.
  /// Guarded by the alias's lock. Does not own it.
  mutable CachedView* cached = nullptr;
};

/// A value type. The links that paths share never change, except ViewLink::cached.
class ViewPath {
 public:
  /// A path to the base itself.
  explicit ViewPath(const ViewGeometry& base) : ViewPath({base.layout.sizes, base.dtype}, base) {}
  /// A path to any geometry of a base, by strides.
  ViewPath(TensorMeta base, ViewGeometry geometry)
      : base_(std::move(base)),
        geometry_(std::move(geometry)),
        is_base_(geometry_ == ViewGeometry::of_all(base_.sizes, base_.dtype)) {}

  /// The viewed elements of the base.
  const ViewGeometry& geometry() const noexcept { return geometry_; }
  const TensorMeta& base() const noexcept { return base_; }
  /// Whether the geometry of the path equals the geometry of the base.
  bool is_base() const noexcept { return is_base_; }
  /// The last link of the chain; null if the path is by strides, or is the base.
  const ViewLink* last() const noexcept { return last_.get(); }
  /// The number of views in the chain; 0 if the path is by strides.
  std::size_t depth() const noexcept { return last_ == nullptr ? 0 : last_->depth; }

  /// Applies the view operator `op` to this path and returns the paths of its outputs. These are
  /// paths by strides if `strides` is true, or if the eight kinds cannot express `op`. Cost:
  /// O(number of outputs).
  std::vector<ViewPath> through(const Operator& op, std::span<const Argument> arguments,
                                bool strides) const;
  /// A path to another geometry of this base.
  ViewPath by_strides(ViewGeometry geometry) const { return ViewPath(base_, std::move(geometry)); }

  /// Returns the view of `base`. Cost: O(depth) operators.
  AnyTensor replay(const AnyTensor& base, bool reapply_views) const;
  /// Returns `base` with `updated` in the region of the path. Requires a geometry that does not
  /// overlap itself. Takes `base` over and may write it in place if it is the only handle. `base`
  /// is unchanged if this throws. Cost: O(depth) operators.
  AnyTensor apply_inverse(AnyTensor& base, const AnyTensor& updated) const;

 private:
  /// Returns the views of the chain in the order of application.
  std::vector<const ViewInfo*> chain() const;

  TensorMeta base_;
  ViewGeometry geometry_;
  bool is_base_;
  ViewLink::Handle last_;  ///< null if the path is by strides, or is the base
  /// A view in the chain sees an element twice, such as expand followed by select. Inverses of
  /// single views could not tell which repeated element was written, so the path is inverted by
  /// strides.
  bool repeats_elements_ = false;
};

}  // namespace byre::inline BYRE_ABI::functional
