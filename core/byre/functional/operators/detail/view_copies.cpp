// SPDX-License-Identifier: BSL-1.0
/// Functional variants of views: what a view sees, as a tensor of its own; and their inverses, the
/// base with other elements where a view sees it. Eight views, of which all others are made.
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/operators/detail/operators.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace byre::inline v0::functional {
namespace {

ViewGeometry seen_of(const Operator& view, const AnyTensor& self,
                     std::span<const Argument> arguments) {
  return (*view.view())(ViewGeometry::of_all(self.sizes(), self.dtype()), arguments).front();
}

void expect_source_fits(const Operator& op, const ViewGeometry& part, const AnyTensor& source) {
  if (source.sizes() != part.layout.sizes || source.dtype() != part.dtype) {
    throw ShapeError(
        format_text("%s: %s was given where the view is of %s%s. Convert and expand it first.",
                    op.name().c_str(), describe(source).c_str(), byre::name_of(part.dtype),
                    byre::to_string(part.layout.sizes).c_str()));
  }
  if (part.overlaps_itself()) {
    throw ShapeError(format_text(
        "%s: the view, of sizes %s and strides %s, sees some element twice, or may: which value it "
        "would have is not said. Write a tensor of its own.",
        op.name().c_str(), byre::to_string(part.layout.sizes).c_str(),
        byre::to_string(part.layout.strides).c_str()));
  }
}

std::vector<TensorMeta> meta_of_copy(const Operator& view, const Call& call) {
  const ViewGeometry seen = seen_of(view, call.arguments[0].tensor(), call.arguments.subspan(1));
  return {{seen.layout.sizes, seen.dtype}};
}

std::vector<TensorMeta> meta_of_scatter(const Operator& view, const Call& call) {
  const AnyTensor& self = call.arguments[0].tensor();
  expect_source_fits(call.op, seen_of(view, self, call.arguments.subspan(2)),
                     call.arguments[1].tensor());
  return {{self.sizes(), self.dtype()}};
}

Definition define_copy(const std::string& name, const std::string& parameters) {
  const Operator& view = find(name);
  return define(detail::with_suffix(name, "_copy") + "(Tensor self, " + parameters + ") -> Tensor")
      .meta([&view](const Call& call) { return meta_of_copy(view, call); });
}

Definition define_scatter(const std::string& name, const std::string& parameters) {
  const Operator& view = find(name);
  return define(detail::with_suffix(name, "_scatter") + "(Tensor self, Tensor source, " +
                parameters + ") -> Tensor")
      .meta([&view](const Call& call) { return meta_of_scatter(view, call); });
}

}  // namespace

void detail::define_view_copies() {
  const std::string select = "Axis axis, int index";
  const std::string slice = "Axis axis, int start=0, int? end=none, int step=1";
  const std::string diagonal = "int offset=0, Axis first=0, Axis second=1";
  const std::string as_strided = "int[] sizes, int[] strides, int? offset=none";
  define_copy("view", "int[] sizes");
  define_copy("view.dtype", "DType dtype").tag(Tag::axis_shift);
  define_copy("permute", "Axis[] axes");
  define_copy("expand", "int[] sizes");
  define_copy("as_strided", as_strided);
  define_scatter("as_strided", as_strided);
  for (const auto& [view, parameters] :
       {std::pair("select", select), std::pair("slice", slice), std::pair("diagonal", diagonal)}) {
    define_copy(view, parameters).tag(Tag::axis_shift);
    define_scatter(view, parameters).tag(Tag::axis_shift);
  }
}

}  // namespace byre::inline v0::functional
