// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/functionalize/detail/view_info.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

using Views = std::vector<ViewInfo>;

/// The operators of each kind, looked up only once.
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

/// Returns the bytes of a view as elements of the base's dtype. If this dtype is bool, the bytes
/// are converted instead of reinterpreted, because only the bytes 0 and 1 are valid bools.
AnyTensor as_base_dtype(const AnyTensor& updated, DType dtype) {
  if (dtype != DType::boolean) {
    return call_for_one("view_copy.dtype", {updated, dtype});
  }
  const AnyTensor bytes = updated.dtype() == DType::u8
                              ? updated
                              : call_for_one("view_copy.dtype", {updated, DType::u8});
  return call_for_one("to", {bytes, dtype});
}

/// Returns the permutation of a view operator: applies its view rule to a tensor with the strides
/// 0, 1, 2, ..., and returns the strides of the result.
Dims permuted_axes(const Operator& op, std::span<const Argument> arguments, std::size_t ndim) {
  ViewGeometry probe = ViewGeometry::of_all(Dims(ndim, 1), DType::u8);
  for (std::size_t axis = 0; axis < ndim; ++axis) {
    probe.layout.strides[axis] = static_cast<std::int64_t>(axis);
  }
  return (*op.view())(probe, arguments).front().layout.strides;
}

/// One output of a view operator. Its members express the output by the eight kinds of views.
struct Output {
  const Operator& op;
  std::span<const Argument> arguments;
  const ViewGeometry& before;
  const ViewGeometry& after;
  std::int64_t& start;

  Views alias() { return {}; }
  Views view() { return single(ViewKind::view, {after.layout.sizes}); }
  Views expand() { return single(ViewKind::expand, {after.layout.sizes}); }
  Views dtype() { return single(ViewKind::dtype, {after.dtype}); }
  Views slice() { return single(ViewKind::slice, as_given()); }
  Views diagonal() { return single(ViewKind::diagonal, as_given()); }
  Views permute() {
    return single(ViewKind::permute, {permuted_axes(op, arguments, before.layout.ndim())});
  }
  Views select() { return selected(arguments[1].integer()); }
  Views unbind() { return selected(start++); }
  Views narrow() {
    const std::size_t axis = axis_at(0, "narrow");
    start = arguments[1].integer();
    start += start < 0 ? before.layout.sizes[axis] : 0;
    return next_slice(axis);
  }
  Views split_part() { return next_slice(axis_at(1, "split")); }
  Views real() {
    Dims pairs(before.layout.sizes);
    pairs.push_back(1);
    return {single(ViewKind::view, {pairs}).front(),
            {ViewKind::dtype, {DType::f32}, {pairs, before.dtype}}};
  }
  Views complex() {
    Dims pairs(after.layout.sizes);
    pairs.push_back(1);
    return {single(ViewKind::dtype, {DType::complex64}).front(),
            {ViewKind::view, {after.layout.sizes}, {pairs, after.dtype}}};
  }

 private:
  Views single(ViewKind kind, Arguments constants) const {
    return {{kind, std::move(constants), {before.layout.sizes, before.dtype}}};
  }
  Arguments as_given() const { return Arguments(arguments.begin(), arguments.end()); }
  std::size_t axis_at(std::size_t argument, const char* operation) const {
    return byre::detail::wrap_axis(arguments[argument].integer(), before.layout.ndim(), operation);
  }
  Views selected(std::int64_t index) const {
    const std::size_t axis = axis_at(0, "select");
    return single(ViewKind::select, {axis, index < 0 ? index + before.layout.sizes[axis] : index});
  }
  /// Returns the slice along `axis` that begins where the previous output ended.
  Views next_slice(std::size_t axis) {
    const std::int64_t from = std::exchange(start, start + after.layout.sizes[axis]);
    return single(ViewKind::slice, {axis, from, start, 1});
  }
};

/// The built-in view operators. Operators with many outputs come first, because the table is
/// searched from the start for each output.
struct CanonicalViews {
  using Row = std::pair<const Operator*, Views (Output::*)()>;

  const std::array<Row, 22> rows{{
      {&find("unbind"), &Output::unbind},
      {&find("split"), &Output::split_part},
      {&find("split.sizes"), &Output::split_part},
      {&find("chunk"), &Output::split_part},
      {&find("alias"), &Output::alias},
      {&find("view"), &Output::view},
      {&find("squeeze"), &Output::view},
      {&find("squeeze.axis"), &Output::view},
      {&find("unsqueeze"), &Output::view},
      {&find("flatten"), &Output::view},
      {&find("permute"), &Output::permute},
      {&find("transpose"), &Output::permute},
      {&find("t"), &Output::permute},
      {&find("movedim"), &Output::permute},
      {&find("select"), &Output::select},
      {&find("slice"), &Output::slice},
      {&find("narrow"), &Output::narrow},
      {&find("diagonal"), &Output::diagonal},
      {&find("expand"), &Output::expand},
      {&find("view.dtype"), &Output::dtype},
      {&find("view_as_real"), &Output::real},
      {&find("view_as_complex"), &Output::complex},
  }};
};

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
    case ViewKind::expand:  // valid if no element is repeated
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
  value = {};  // so that the arguments hold the only handle, unless other owners exist
  try {
    return std::move(dispatch(scatter, all).front());
  } catch (...) {
    value = all.front().tensor();
    throw;
  }
}

std::optional<Views> canonical_views(const Operator& op, std::span<const Argument> arguments,
                                     const ViewGeometry& before, const ViewGeometry& after,
                                     std::int64_t& start) {
  const auto& rows = sync::no_destructor<CanonicalViews>().rows;
  const auto found = std::ranges::find(rows, &op, &CanonicalViews::Row::first);
  return found == rows.end()
             ? std::nullopt
             : std::optional((Output{op, arguments, before, after, start}.*found->second)());
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

}  // namespace byre::inline BYRE_ABI::functional
