// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/functionalize/detail/view_info.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace byre::inline v0::functional {
namespace {

/// The operators of each kind, found once.
struct ViewOperators {
  const Operator& view;
  const Operator& copy;
  const Operator* scatter;
};

struct OperatorsOfKinds {
  const std::array<ViewOperators, 8> operators{{
      ViewOperators{find("view"), find("view_copy"), nullptr},
      ViewOperators{find("view.dtype"), find("view_copy.dtype"), nullptr},
      ViewOperators{find("permute"), find("permute_copy"), nullptr},
      ViewOperators{find("select"), find("select_copy"), &find("select_scatter")},
      ViewOperators{find("slice"), find("slice_copy"), &find("slice_scatter")},
      ViewOperators{find("diagonal"), find("diagonal_copy"), &find("diagonal_scatter")},
      ViewOperators{find("expand"), find("expand_copy"), nullptr},
      ViewOperators{find("as_strided"), find("as_strided_copy"), &find("as_strided_scatter")},
  }};
};

const ViewOperators& operators_of(ViewKind kind) {
  return sync::no_destructor<OperatorsOfKinds>().operators[static_cast<std::size_t>(kind)];
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
  ViewGeometry probe = ViewGeometry::of_all(Dims(ndim, 1), DType::u8);
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    probe.layout.strides[axis] = static_cast<std::int64_t>(axis);
  }
  return (*op.view())(probe, arguments).front().layout.strides;
}

std::int64_t wrapped(std::int64_t axis, const Layout& layout, const char* operation) {
  return static_cast<std::int64_t>(byre::detail::wrap_axis(axis, layout.ndim(), operation));
}

ViewInfo selected(const ViewGeometry& before, std::int64_t axis, std::int64_t index) {
  const std::int64_t which = wrapped(axis, before.layout, "select");
  const std::int64_t size = before.layout.sizes[static_cast<std::size_t>(which)];
  return {ViewKind::select,
          {which, index < 0 ? index + size : index},
          {before.layout.sizes, before.dtype}};
}

}  // namespace

AnyTensor ViewInfo::replay(const AnyTensor& value, bool reapply_views) const {
  const ViewOperators& operators = operators_of(kind);
  Arguments all{value};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return call_for_one(reapply_views ? operators.view : operators.copy, std::move(all));
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

enum class CanonicalViews::Family : std::uint8_t {
  none,
  alias,
  all_in_order,
  permutation,
  selection,
  slice,
  narrowing,
  parts_of_slices,
  parts_of_selections,
  diagonal,
  expansion,
  dtype,
  real,
  complex,
};

/// Those of the operators that come along, by address.
struct CanonicalViews::Families {
  using Entry = std::pair<const Operator*, Family>;

  Families() { std::ranges::sort(entries); }

  std::array<Entry, 22> entries{{
      Entry{&find("alias"), Family::alias},
      Entry{&find("view"), Family::all_in_order},
      Entry{&find("squeeze"), Family::all_in_order},
      Entry{&find("squeeze.axis"), Family::all_in_order},
      Entry{&find("unsqueeze"), Family::all_in_order},
      Entry{&find("flatten"), Family::all_in_order},
      Entry{&find("permute"), Family::permutation},
      Entry{&find("transpose"), Family::permutation},
      Entry{&find("t"), Family::permutation},
      Entry{&find("movedim"), Family::permutation},
      Entry{&find("select"), Family::selection},
      Entry{&find("slice"), Family::slice},
      Entry{&find("narrow"), Family::narrowing},
      Entry{&find("split"), Family::parts_of_slices},
      Entry{&find("split.sizes"), Family::parts_of_slices},
      Entry{&find("chunk"), Family::parts_of_slices},
      Entry{&find("unbind"), Family::parts_of_selections},
      Entry{&find("diagonal"), Family::diagonal},
      Entry{&find("expand"), Family::expansion},
      Entry{&find("view.dtype"), Family::dtype},
      Entry{&find("view_as_real"), Family::real},
      Entry{&find("view_as_complex"), Family::complex},
  }};
};

CanonicalViews::Family CanonicalViews::family_of(const Operator& op) noexcept {
  const auto& families = sync::no_destructor<Families>().entries;
  const auto found = std::ranges::lower_bound(families, Families::Entry{&op, Family::none});
  return found != families.end() && found->first == &op ? found->second : Family::none;
}

CanonicalViews::CanonicalViews(const Operator& op, std::span<const Argument> arguments,
                               const ViewGeometry& before)
    : op_(op), family_(family_of(op)), arguments_(arguments), before_(before) {
  if (family_ == Family::narrowing) {
    const std::int64_t axis = wrapped(arguments[0].integer(), before.layout, "narrow");
    start_ = arguments[1].integer();
    start_ += start_ < 0 ? before.layout.sizes[static_cast<std::size_t>(axis)] : 0;
  }
}

/// The next part along an axis, behind the parts before it.
ViewInfo CanonicalViews::next_slice(const Layout& part) {
  const Argument& along = arguments_[family_ == Family::narrowing ? 0 : 1];
  const std::int64_t axis = wrapped(along.integer(), before_.layout, "split");
  const std::int64_t start = start_;
  start_ += part.sizes[static_cast<std::size_t>(axis)];
  return {ViewKind::slice, {axis, start, start_, 1}, {before_.layout.sizes, before_.dtype}};
}

std::optional<std::vector<ViewInfo>> CanonicalViews::next(const ViewGeometry& after) {
  using Views = std::vector<ViewInfo>;
  const TensorMeta base{before_.layout.sizes, before_.dtype};
  switch (family_) {
    case Family::none:
      break;
    case Family::alias:
      return Views();
    case Family::all_in_order:
      return Views{{ViewKind::view, {after.layout.sizes}, base}};
    case Family::permutation:
      return Views{
          {ViewKind::permute, {permuted_axes(op_, arguments_, before_.layout.ndim())}, base}};
    case Family::selection:
      return Views{selected(before_, arguments_[0].integer(), arguments_[1].integer())};
    case Family::parts_of_selections:
      return Views{selected(before_, arguments_[0].integer(), start_++)};
    case Family::slice:
      return Views{{ViewKind::slice, Arguments(arguments_.begin(), arguments_.end()), base}};
    case Family::narrowing:
    case Family::parts_of_slices:
      return Views{next_slice(after.layout)};
    case Family::diagonal:
      return Views{{ViewKind::diagonal, Arguments(arguments_.begin(), arguments_.end()), base}};
    case Family::expansion:
      return Views{{ViewKind::expand, {after.layout.sizes}, base}};
    case Family::dtype:
      return Views{{ViewKind::dtype, {after.dtype}, base}};
    case Family::real: {
      Dims pairs(before_.layout.sizes);
      pairs.push_back(1);
      return Views{{ViewKind::view, {pairs}, base},
                   {ViewKind::dtype, {DType::f32}, {pairs, before_.dtype}}};
    }
    case Family::complex: {
      Dims pairs(after.layout.sizes);
      pairs.push_back(1);
      return Views{{ViewKind::dtype, {DType::complex64}, base},
                   {ViewKind::view, {after.layout.sizes}, {pairs, after.dtype}}};
    }
  }
  return std::nullopt;
}

std::vector<ViewInfo> views_by_strides(const TensorMeta& base, const ViewGeometry& geometry) {
  const Layout& layout = geometry.layout;
  std::vector<ViewInfo> views;
  TensorMeta of{base};
  if (base.dtype != geometry.dtype) {
    const auto size = static_cast<std::int64_t>(byre::itemsize(base.dtype));
    const auto wanted = static_cast<std::int64_t>(byre::itemsize(geometry.dtype));
    const std::int64_t count = byre::detail::element_count(base.sizes, "view");
    const std::int64_t whole = count - (wanted > size ? count % (wanted / size) : 0);
    views.push_back({ViewKind::view, {Dims{count}}, of});
    of.sizes = {count};
    if (whole != count) {
      views.push_back({ViewKind::slice, {0, 0, whole, 1}, of});
      of.sizes = {whole};
    }
    views.push_back({ViewKind::dtype, {geometry.dtype}, of});
    of = {{whole * size / wanted}, geometry.dtype};
  }
  views.push_back({ViewKind::as_strided, {layout.sizes, layout.strides, layout.offset}, of});
  return views;
}

}  // namespace byre::inline v0::functional
