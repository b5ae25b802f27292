// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/functionalize/view_info.hpp>

#include <array>
#include <string_view>

namespace byre::inline v0::functional {
namespace {

/// The operators of each kind, found once.
struct ViewOperators {
  const Operator& view;
  const Operator& copy;
  const Operator* scatter;
};

const ViewOperators& operators_of(ViewKind kind) {
  static const std::array operators{
      ViewOperators{find("view"), find("view_copy"), nullptr},
      ViewOperators{find("view.dtype"), find("view_copy.dtype"), nullptr},
      ViewOperators{find("permute"), find("permute_copy"), nullptr},
      ViewOperators{find("select"), find("select_copy"), &find("select_scatter")},
      ViewOperators{find("slice"), find("slice_copy"), &find("slice_scatter")},
      ViewOperators{find("diagonal"), find("diagonal_copy"), &find("diagonal_scatter")},
      ViewOperators{find("expand"), find("expand_copy"), nullptr},
      ViewOperators{find("as_strided"), find("as_strided_copy"), &find("as_strided_scatter")},
  };
  return operators[static_cast<std::size_t>(kind)];
}

Dims inverse_of(const Dims& axes) {
  Dims inverse(axes.size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    inverse[static_cast<std::size_t>(axes[axis])] = static_cast<std::int64_t>(axis);
  }
  return inverse;
}

/// The bytes of a view as the base's dtype. Not every byte is a bool; those of a view of bools are.
AnyTensor as_base_dtype(const AnyTensor& updated, DType dtype) {
  if (dtype != DType::boolean) {
    return call_for_one("view_copy.dtype", {updated, dtype});
  }
  const AnyTensor bytes = updated.dtype() == DType::u8
                              ? updated
                              : call_for_one("view_copy.dtype", {updated, DType::u8});
  return call_for_one("to", {bytes, dtype});
}

/// The axes that a view permutes: what it makes of strides that number them.
Dims permuted_axes(const Operator& op, std::span<const Argument> arguments, std::size_t ndim) {
  Window probe = Window::of_all(Dims(ndim, 1), DType::u8);
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    probe.layout.strides[axis] = static_cast<std::int64_t>(axis);
  }
  return (*op.view())(probe, arguments).front().layout.strides;
}

std::int64_t wrapped(std::int64_t axis, const Layout& layout, const char* operation) {
  return static_cast<std::int64_t>(byre::detail::wrap_axis(axis, layout.ndim(), operation));
}

enum class Family : std::uint8_t {
  none,
  all_in_order,
  permutation,
  selection,
  slice,
  parts_of_slices,
  parts_of_selections,
  diagonal,
  expansion,
  dtype,
  real,
  complex,
};

struct FamilyOf {
  std::string_view name;
  Family family;
};

constexpr std::array families{
    FamilyOf{"view", Family::all_in_order},
    FamilyOf{"squeeze", Family::all_in_order},
    FamilyOf{"squeeze.axis", Family::all_in_order},
    FamilyOf{"unsqueeze", Family::all_in_order},
    FamilyOf{"flatten", Family::all_in_order},
    FamilyOf{"permute", Family::permutation},
    FamilyOf{"transpose", Family::permutation},
    FamilyOf{"t", Family::permutation},
    FamilyOf{"movedim", Family::permutation},
    FamilyOf{"select", Family::selection},
    FamilyOf{"slice", Family::slice},
    FamilyOf{"narrow", Family::parts_of_slices},
    FamilyOf{"split", Family::parts_of_slices},
    FamilyOf{"split.sizes", Family::parts_of_slices},
    FamilyOf{"chunk", Family::parts_of_slices},
    FamilyOf{"unbind", Family::parts_of_selections},
    FamilyOf{"diagonal", Family::diagonal},
    FamilyOf{"expand", Family::expansion},
    FamilyOf{"view.dtype", Family::dtype},
    FamilyOf{"view_as_real", Family::real},
    FamilyOf{"view_as_complex", Family::complex},
};

Family family_of(const Operator& op) noexcept {
  for (const FamilyOf& entry : families) {
    if (entry.name == op.name()) {
      return entry.family;
    }
  }
  return Family::none;
}

/// A part of `before` along an axis, behind the parts before it. narrow alone says where it begins.
ViewInfo slice_of_parts(const Operator& op, std::span<const Argument> arguments,
                        const Window& before, std::span<const Window> parts, std::size_t index) {
  const bool is_narrow = op.name() == "narrow";
  const std::int64_t axis = wrapped(arguments[is_narrow ? 0 : 1].integer(), before.layout, "split");
  const auto along = static_cast<std::size_t>(axis);
  const Layout& part = parts[index].layout;
  const std::int64_t stride = before.layout.strides[along];
  std::int64_t start = 0;
  if (is_narrow) {
    start = arguments[1].integer();
    start += start < 0 ? before.layout.sizes[along] : 0;
  } else if (stride != 0 && part.numel() != 0) {
    start = (part.offset - before.layout.offset) / stride;
  } else {  // where it lies says nothing
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
      start += parts[earlier].layout.sizes[along];
    }
  }
  return {ViewKind::slice,
          {axis, start, start + part.sizes[along], 1},
          {before.layout.sizes, before.dtype}};
}

ViewInfo selected(const Window& before, std::int64_t axis, std::int64_t index) {
  const std::int64_t which = wrapped(axis, before.layout, "select");
  const std::int64_t size = before.layout.sizes[static_cast<std::size_t>(which)];
  return {ViewKind::select,
          {which, index < 0 ? index + size : index},
          {before.layout.sizes, before.dtype}};
}

}  // namespace

AnyTensor ViewInfo::replay(const AnyTensor& value, Remove remove) const {
  const ViewOperators& operators = operators_of(kind);
  Arguments all{value};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return call_for_one(remove == Remove::mutations ? operators.view : operators.copy,
                      std::move(all));
}

AnyTensor ViewInfo::invert(AnyTensor& value, const AnyTensor& updated) const {
  switch (kind) {
    case ViewKind::view:
    case ViewKind::expand:  // of elements that are not repeated
      return call_for_one(operators_of(ViewKind::view).copy, {updated, base.sizes});
    case ViewKind::dtype:
      return as_base_dtype(updated, base.dtype);
    case ViewKind::permute:
      return call_for_one(operators_of(kind).copy, {updated, inverse_of(arguments[0].dims())});
    default:
      break;
  }
  const Operator& scatter = *operators_of(kind).scatter;
  Arguments all{value, updated};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all = checked_arguments(scatter.schema(), std::move(all));
  value = {};  // its sole handle stands among the arguments, unless there are others
  try {
    return std::move(dispatch(scatter, all).front());
  } catch (...) {
    value = all.front().tensor();
    throw;
  }
}

std::optional<std::vector<ViewInfo>> canonical_views(const Operator& op,
                                                     std::span<const Argument> arguments,
                                                     const Window& before,
                                                     std::span<const Window> parts,
                                                     std::size_t index) {
  using Views = std::vector<ViewInfo>;
  const TensorMeta base{before.layout.sizes, before.dtype};
  const Window& after = parts[index];
  switch (family_of(op)) {
    case Family::all_in_order:
      return Views{{ViewKind::view, {after.layout.sizes}, base}};
    case Family::permutation:
      return Views{{ViewKind::permute, {permuted_axes(op, arguments, before.layout.ndim())}, base}};
    case Family::selection:
      return Views{selected(before, arguments[0].integer(), arguments[1].integer())};
    case Family::parts_of_selections:
      return Views{selected(before, arguments[0].integer(), static_cast<std::int64_t>(index))};
    case Family::slice:
      return Views{{ViewKind::slice, Arguments(arguments.begin(), arguments.end()), base}};
    case Family::parts_of_slices:
      return Views{slice_of_parts(op, arguments, before, parts, index)};
    case Family::diagonal:
      return Views{{ViewKind::diagonal, Arguments(arguments.begin(), arguments.end()), base}};
    case Family::expansion:
      return Views{{ViewKind::expand, {after.layout.sizes}, base}};
    case Family::dtype:
      return Views{{ViewKind::dtype, {after.dtype}, base}};
    case Family::real: {
      Dims pairs(before.layout.sizes);
      pairs.push_back(1);
      return Views{{ViewKind::view, {pairs}, base},
                   {ViewKind::dtype, {DType::f32}, {pairs, before.dtype}}};
    }
    case Family::complex: {
      Dims pairs(after.layout.sizes);
      pairs.push_back(1);
      return Views{{ViewKind::dtype, {DType::complex64}, base},
                   {ViewKind::view, {after.layout.sizes}, {pairs, after.dtype}}};
    }
    case Family::none:
      break;
  }
  return op.name() == "alias" ? std::optional(Views()) : std::nullopt;
}

std::vector<ViewInfo> views_by_strides(const TensorMeta& base, const Window& window) {
  const Layout& layout = window.layout;
  std::vector<ViewInfo> views;
  TensorMeta of{base};
  if (base.dtype != window.dtype) {
    const auto size = static_cast<std::int64_t>(byre::itemsize(base.dtype));
    const auto wanted = static_cast<std::int64_t>(byre::itemsize(window.dtype));
    const std::int64_t count = byre::detail::element_count(base.sizes, "view");
    const std::int64_t whole = count - (wanted > size ? count % (wanted / size) : 0);
    views.push_back({ViewKind::view, {Dims{count}}, of});
    of.sizes = {count};
    if (whole != count) {
      views.push_back({ViewKind::slice, {0, 0, whole, 1}, of});
      of.sizes = {whole};
    }
    views.push_back({ViewKind::dtype, {window.dtype}, of});
    of = {{whole * size / wanted}, window.dtype};
  }
  views.push_back({ViewKind::as_strided, {layout.sizes, layout.strides, layout.offset}, of});
  return views;
}

}  // namespace byre::inline v0::functional
