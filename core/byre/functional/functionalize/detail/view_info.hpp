// SPDX-License-Identifier: BSL-1.0
/// ViewInfo: one view, reified. It can be replayed on a base that changed. Its inverse brings a
/// value that was written to the view back to the base.
///
/// Every view operator is expressed by eight: view, view.dtype, permute, select, slice, diagonal,
/// expand and as_strided. A backend needs the functional variants of these, and no others.
/// docs/functionalization.md says by which operators each is replayed and inverted.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <span>
#include <vector>

namespace byre::inline v0::functional {

enum class ViewKind : std::uint8_t {
  view,
  dtype,
  permute,
  select,
  slice,
  diagonal,
  expand,
  as_strided,
};

/// A value; replaying and inverting call pure operators, and change nothing.
struct ViewInfo {
  ViewKind kind = ViewKind::view;
  /// Of the operators of that kind, behind the tensors: constants.
  Arguments arguments;
  /// What the base of this one view is.
  TensorMeta base;

  /// The view of `value`, which is of `base`'s sizes: by the view operator if `reapply_views`, else
  /// by its copy.
  AnyTensor replay(const AnyTensor& value, bool reapply_views) const;
  /// `value` with `updated` where the view sees it. Takes `value` over: its sole handle may be
  /// written in place. If it throws, `value` is what it was.
  AnyTensor invert(AnyTensor& value, const AnyTensor& updated) const;
  /// Whether some values have no such view, because of their strides. All have the copy.
  bool depends_on_strides() const noexcept {
    return kind == ViewKind::view || kind == ViewKind::dtype;
  }
  /// Whether invert() needs no `value`: the view sees every element.
  bool sees_all_elements() const noexcept {
    return kind == ViewKind::view || kind == ViewKind::dtype || kind == ViewKind::permute;
  }
};

/// Expresses one output of the view `op` by the kinds of ViewKind; returns nothing if only strides can.
/// `before` and `after`: the geometries of the tensor and of the output. `start`: where the output begins
/// along the axis, 0 for the first; updated for the next output. O(1).
std::optional<std::vector<ViewInfo>> canonical_views(const Operator& op,
                                                     std::span<const Argument> arguments,
                                                     const ViewGeometry& before,
                                                     const ViewGeometry& after,
                                                     std::int64_t& start);

/// The same view of a whole base, by its strides alone: at most four views, whatever the dtypes.
std::vector<ViewInfo> views_by_strides(const TensorMeta& base, const ViewGeometry& geometry);

}  // namespace byre::inline v0::functional
