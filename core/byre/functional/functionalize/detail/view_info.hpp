// SPDX-License-Identifier: BSL-1.0
/// A ViewInfo represents one view. It can be replayed on a changed base, and its inverse writes a
/// changed value of the view back to the base.
///
/// Eight kinds express every view operator: view, view.dtype, permute, select, slice, diagonal,
/// expand and as_strided. A backend needs the functional variants of only these.
/// docs/functionalize-pass.md lists the operators that replay and invert each kind.
///
/// Source: the design note "Functionalization".
#pragma once

#include <byre/functional/dispatch/operator.hpp>

#include <optional>
#include <span>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

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

/// A value type. replay() and invert() only call operators: they change no ViewInfo.
struct ViewInfo {
  ViewKind kind = ViewKind::view;
  /// The constant arguments of the kind's operators, without the tensors.
  Arguments arguments;
  /// Sizes and dtype of the tensor that this view is applied to.
  TensorMeta base;

  /// Returns the view of `value`, which has the sizes of `base`: by the view operator if
  /// `reapply_views` is true, otherwise by its copying variant.
  AnyTensor replay(const AnyTensor& value, bool reapply_views) const;
  /// Returns `value` with `updated` in the region of the view. Takes `value` over and may write it
  /// in place if it is the only handle. `value` is unchanged if this throws.
  AnyTensor invert(AnyTensor& value, const AnyTensor& updated) const;
  /// Whether the strides of the viewed tensor can make the view impossible. The copying variant is
  /// always possible.
  bool depends_on_strides() const noexcept {
    return kind == ViewKind::view || kind == ViewKind::dtype;
  }
  /// Whether the view sees every element, so that invert() needs no `value`.
  bool sees_all_elements() const noexcept {
    return kind == ViewKind::view || kind == ViewKind::dtype || kind == ViewKind::permute;
  }
};

/// Expresses one output of the view `op` by ViewInfos. Empty if only strides can express it.
/// `before` and `after` are the geometries of the tensor and of the output. `start` is the position
/// of the output along the axis, 0 for the first; it is advanced for the next output. Cost: O(1).
std::optional<std::vector<ViewInfo>> canonical_views(const Operator& op,
                                                     std::span<const Argument> arguments,
                                                     const ViewGeometry& before,
                                                     const ViewGeometry& after,
                                                     std::int64_t& start);

/// Expresses the view `geometry` of a base by its strides, as at most four ViewInfos for any
/// dtypes.
std::vector<ViewInfo> views_by_strides(const TensorMeta& base, const ViewGeometry& geometry);

}  // namespace byre::inline BYRE_ABI::functional
