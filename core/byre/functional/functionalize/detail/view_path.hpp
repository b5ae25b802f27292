// SPDX-License-Identifier: BSL-1.0
/// ViewPath: how a view is computed of its base: by a chain of ViewInfos, or by strides alone. Each
/// link of a chain points to the one before it, so views of views share links.
///
/// Two paths of one base that have the same geometry see the same elements, whatever views made
/// them. So an update replaces an earlier one of the same place.
#pragma once

#include <byre/functional/functionalize/detail/view_info.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// The value that a tensor of the pass held when it was used last. A member of one tensor, at a fixed address. The lock
/// of the tensor's alias guards it, if there is an alias: other tensors replay their views from this value.
struct CachedView {
  AnyTensor value = {};  ///< null: none yet, or that of the base, which the alias alone holds
  std::uint64_t generation = 0;  ///< of the alias, when the value was computed
  bool is_written = false;       ///< an operator returned it
  bool has_own_strides = false;  ///< the same, or replayed from such: they are not the path's
  /// The value that the tensor was made from, until the tensor's alias is written. Only writes change
  /// it, so reads need no lock.
  AnyTensor initial = {};
};

/// One view, behind those before it. Immutable but for `cached`.
struct ViewLink final : Counted {
  using Handle = boost::intrusive_ptr<const ViewLink>;

  ViewLink(ViewInfo view, Handle earlier)
      : info(std::move(view)),
        before(std::move(earlier)),
        depth(before == nullptr ? 1 : before->depth + 1) {}
  /// Drops those that nobody else has one by one: a chain may be longer than the stack is deep.
  ~ViewLink() override;

  const ViewInfo info;
  mutable Handle before;  ///< null: the base. Changed by destruction alone
  const std::size_t depth;
  /// Of a tensor whose path ends here, the one that was used last; null if that is gone. The
  /// alias's lock guards it. It owns nothing.
  mutable CachedView* cached = nullptr;
};

/// A value. What it shares with others never changes.
class ViewPath {
 public:
  /// To the base itself.
  explicit ViewPath(const ViewGeometry& base) : ViewPath({base.layout.sizes, base.dtype}, base) {}
  /// To any geometry of a base, by its strides.
  ViewPath(TensorMeta base, ViewGeometry geometry)
      : base_(std::move(base)),
        geometry_(std::move(geometry)),
        is_base_(geometry_ == ViewGeometry::of_all(base_.sizes, base_.dtype)) {}

  /// What is seen of the base.
  const ViewGeometry& geometry() const noexcept { return geometry_; }
  const TensorMeta& base() const noexcept { return base_; }
  /// Whether it is the base, as it is.
  bool is_base() const noexcept { return is_base_; }
  /// The end of the chain; null on the stride path, and for the base.
  const ViewLink* last() const noexcept { return last_.get(); }
  /// How many views there are in the chain; 0 on the stride path.
  std::size_t depth() const noexcept { return last_ == nullptr ? 0 : last_->depth; }

  /// The paths of the outputs that the view `op` makes of this. N outputs cost O(N). By strides if
  /// `strides`, or if none of the eight views expresses it.
  std::vector<ViewPath> through(const Operator& op, std::span<const Argument> arguments,
                                bool strides) const;
  /// The path to another geometry of the same base.
  ViewPath by_strides(ViewGeometry geometry) const { return ViewPath(base_, std::move(geometry)); }

  /// What is seen of `base`. O(depth).
  AnyTensor replay(const AnyTensor& base, bool reapply_views) const;
  /// `base` with `updated` where this sees it. The geometry does not overlap itself. O(depth).
  /// Takes over `base`, whose sole handle may be written in place. If it throws, `base` is what it
  /// was.
  AnyTensor apply_inverse(AnyTensor& base, const AnyTensor& updated) const;

 private:
  /// From the base on.
  std::vector<const ViewInfo*> chain() const;

  TensorMeta base_;
  ViewGeometry geometry_;
  bool is_base_;
  ViewLink::Handle last_;  ///< null: by strides, or the base itself
  /// Some view in the chain sees an element twice, of which the others behind it may not: expand,
  /// then select. Inverted one by one, such views would not say which of the two was written;
  /// strides do.
  bool repeats_elements_ = false;
};

}  // namespace byre::inline v0::functional
