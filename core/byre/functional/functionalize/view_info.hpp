// SPDX-License-Identifier: BSL-1.0
/// ViewInfo: one view, reified: it can be replayed on a base that changed, and inverted, to bring what
/// was written to the view back to the base.
///
/// Whatever view operator a program uses is said by eight: view, view.dtype, permute, select, slice,
/// diagonal, expand and as_strided. A backend needs their pure forms, and no others:
///
///   view                               replayed by          inverted by
///   view, squeeze, unsqueeze, flatten  view_copy            view_copy to the base's sizes
///   permute, transpose, t, movedim     permute_copy         permute_copy by the inverse permutation
///   select, unbind                     select_copy          select_scatter
///   slice, narrow, split, chunk        slice_copy           slice_scatter
///   diagonal                           diagonal_copy        diagonal_scatter
///   expand                             expand_copy          see view_path.hpp
///   view.dtype, view_as_real           view_copy.dtype      view_copy.dtype to the base's dtype
///   as_strided, unfold, users' views   as_strided_copy      as_strided_scatter
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/dispatch/operator.hpp>
#include <byre/functional/functionalize/options.hpp>

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

  /// The view of `value`, which is of `base`'s sizes.
  AnyTensor replay(const AnyTensor& value, Remove remove) const;
  /// `value` with `updated` where the view sees it. Takes `value` over: with its sole handle it may be
  /// written in place. Where it throws, `value` is what it was.
  AnyTensor invert(AnyTensor& value, const AnyTensor& updated) const;
  /// Whether invert() needs no `value`: the view sees every element.
  bool sees_all() const noexcept {
    return kind == ViewKind::view || kind == ViewKind::dtype || kind == ViewKind::permute;
  }
};

/// The view that makes `after`, the window of output `index` of `op`, of one that sees `before`, by the
/// eight, of which `alias` is none; no answer for one that is said by its strides alone. `parts` are the
/// windows of all outputs.
std::optional<std::vector<ViewInfo>> canonical_views(const Operator& op,
                                                     std::span<const Argument> arguments,
                                                     const Window& before,
                                                     std::span<const Window> parts,
                                                     std::size_t index);

/// The same view of a whole base, by its strides alone: at most four views, whatever the dtypes.
std::vector<ViewInfo> views_by_strides(const TensorMeta& base, const Window& window);

}  // namespace byre::inline v0::functional
