// SPDX-License-Identifier: BSL-1.0
/// Defines the views of byre/tensor by rules that compute the geometry of each view. Some views
/// with one output also get a variant in place, such as transpose_.
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/tensor/views.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

using Constants = std::span<const Argument>;

std::vector<ViewGeometry> geometries_of(const ViewGeometry& self, Layout layout) {
  return {self.with(std::move(layout))};
}
std::vector<ViewGeometry> geometries_of(const ViewGeometry& self, std::vector<Layout> parts) {
  std::vector<ViewGeometry> geometries;
  for (Layout& layout : parts) {
    geometries.push_back(self.with(std::move(layout)));
  }
  return geometries;
}

template <class T>
decltype(auto) read_as(const Argument& constant) {
  if constexpr (std::same_as<T, std::int64_t>) {
    return constant.integer();
  } else {
    return constant.dims();
  }
}

template <auto LayoutOf, class Result, class... Rest>
ViewRule rule_of(Result (*)(const Layout&, Rest...)) {
  return [](const ViewGeometry& self, Constants constants) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return geometries_of(self, LayoutOf(self.layout, read_as<Rest>(constants[Index])...));
    }
    (std::index_sequence_for<Rest...>());
  };
}
/// Turns a function of a layout and further arguments (integers and Dims) into a view rule.
template <auto LayoutOf>
ViewRule layout_rule() {
  return rule_of<LayoutOf>(LayoutOf);
}

std::vector<ViewGeometry> slice_rule(const ViewGeometry& self, Constants constants) {
  return geometries_of(
      self, views::slice(self.layout, constants[0].integer(), constants[1].integer(),
                         constants[2].integer_or(views::to_the_end), constants[3].integer()));
}

Layout unchanged(const Layout& self) {
  return self;
}

std::vector<ViewGeometry> as_strided_rule(const ViewGeometry& self, Constants constants) {
  const auto storage_numel =
      static_cast<std::int64_t>(self.storage_nbytes / byre::itemsize(self.dtype));
  return {self.with(views::as_strided(constants[0].dims(), constants[1].dims(),
                                      constants[2].integer_or(self.layout.offset), storage_numel))};
}

/// Returns the bytes of `self` viewed as `dtype`, with the layout that `layout_of` returns.
template <class LayoutOf>
std::vector<ViewGeometry> as_dtype(const ViewGeometry& self, DType dtype,
                                   const LayoutOf& layout_of) {
  if (dtype == DType::boolean && self.dtype != DType::boolean) {
    throw DTypeError(
        format_text("view: cannot view %s as bool: only the bytes 0 and 1 are bools. Compare the "
                    "elements by eq or ge.",
                    byre::name_of(self.dtype)));
  }
  return {{layout_of(self.layout), dtype, self.storage_nbytes}};
}

std::vector<ViewGeometry> view_dtype_rule(const ViewGeometry& self, Constants constants) {
  const DType dtype = constants[0].dtype();
  if (dtype == DType::uninitialized) {
    throw DTypeError(format_text("view: the dtype is uninitialized. Pass another dtype."));
  }
  return as_dtype(self, dtype, [&](const Layout& layout) {
    return views::with_itemsize(layout, byre::itemsize(self.dtype), byre::itemsize(dtype));
  });
}

std::vector<ViewGeometry> view_as_real_rule(const ViewGeometry& self, Constants) {
  if (self.dtype != DType::complex64) {
    throw DTypeError(format_text("view_as_real: the dtype is %s, required complex64.",
                                 byre::name_of(self.dtype)));
  }
  return as_dtype(self, DType::f32, views::as_real);
}

std::vector<ViewGeometry> view_as_complex_rule(const ViewGeometry& self, Constants) {
  if (self.dtype != DType::f32) {
    throw DTypeError(format_text("view_as_complex: the dtype is %s, required f32 in pairs.",
                                 byre::name_of(self.dtype)));
  }
  return as_dtype(self, DType::complex64, views::as_complex);
}

using Parts = std::vector<Layout>;
using Axis = std::int64_t;

enum class Produces : std::uint8_t { one, one_or_in_place, parts };

struct ViewRow {
  const char* name;
  const char* parameters;
  ViewRule rule;
  Produces produces = Produces::one;
};

}  // namespace

void detail::define_views() {
  using enum Produces;
  const ViewRow all[] = {
      {"alias", "", layout_rule<unchanged>()},
      {"view", ", int[] sizes", layout_rule<views::view>()},
      {"view.dtype", ", DType dtype", view_dtype_rule},
      {"view_as_real", "", view_as_real_rule},
      {"view_as_complex", "", view_as_complex_rule},
      {"permute", ", Axis[] axes", layout_rule<views::permute>(), one_or_in_place},
      {"transpose", ", Axis first, Axis second", layout_rule<views::transpose>(), one_or_in_place},
      {"t", "", layout_rule<views::t>(), one_or_in_place},
      {"movedim", ", Axis[] from, Axis[] to", layout_rule<views::movedim>(), one_or_in_place},
      {"squeeze", "", layout_rule<static_cast<Layout (*)(const Layout&)>(views::squeeze)>(),
       one_or_in_place},
      {"squeeze.axis", ", Axis axis",
       layout_rule<static_cast<Layout (*)(const Layout&, Axis)>(views::squeeze)>(),
       one_or_in_place},
      {"unsqueeze", ", int axis", layout_rule<views::unsqueeze>(), one_or_in_place},
      {"flatten", ", Axis first=0, Axis last=-1", layout_rule<views::flatten>()},
      {"expand", ", int[] sizes", layout_rule<views::expand>()},
      {"as_strided", ", int[] sizes, int[] strides, int? offset=none", as_strided_rule,
       one_or_in_place},
      {"select", ", Axis axis, int index", layout_rule<views::select>()},
      {"slice", ", Axis axis, int start=0, int? end=none, int step=1", slice_rule},
      {"narrow", ", Axis axis, int start, int length", layout_rule<views::narrow>()},
      {"diagonal", ", int offset=0, Axis first=0, Axis second=1", layout_rule<views::diagonal>()},
      {"unfold", ", Axis axis, int size, int step", layout_rule<views::unfold>()},
      {"split", ", int size, Axis axis=0",
       layout_rule<static_cast<Parts (*)(const Layout&, Axis, Axis)>(views::split)>(), parts},
      {"split.sizes", ", int[] sizes, Axis axis=0",
       layout_rule<static_cast<Parts (*)(const Layout&, const Dims&, Axis)>(views::split)>(),
       parts},
      {"chunk", ", int count, Axis axis=0", layout_rule<views::chunk>(), parts},
      {"unbind", ", Axis axis=0", layout_rule<views::unbind>(), parts},
  };
  for (const auto& [name, parameters, rule, produces] : all) {
    const std::string behind_self = std::string(" self") + parameters + ") -> Tensor";
    define(name + ("(Tensor(a)" + behind_self) + "(a)" + (produces == parts ? "[]" : ""))
        .view(rule);
    if (produces == one_or_in_place) {
      define(with_suffix(name, "_") + "(Tensor(a!)" + behind_self + "(a!)");
    }
  }
}

}  // namespace byre::inline BYRE_ABI::functional
