// SPDX-License-Identifier: BSL-1.0
/// The views of the tensor layer, each by what it sees, and in place where there is one view.
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/tensor/views.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace byre::inline v0::functional {
namespace {

using Given = std::span<const Argument>;

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
decltype(auto) read_as(const Argument& given) {
  if constexpr (std::same_as<T, std::int64_t>) {
    return given.integer();
  } else {
    return given.dims();
  }
}

template <auto See, class Result, class... Rest>
ViewRule rule_of(Result (*)(const Layout&, Rest...)) {
  return [](const ViewGeometry& self, Given given) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return geometries_of(self, See(self.layout, read_as<Rest>(given[Index])...));
    }
    (std::index_sequence_for<Rest...>());
  };
}
/// The rule of a view from a function of the layout and the arguments, integers and Dims.
template <auto See>
ViewRule by() {
  return rule_of<See>(See);
}

std::vector<ViewGeometry> any_slice(const ViewGeometry& self, Given given) {
  return geometries_of(self,
                       views::slice(self.layout, given[0].integer(), given[1].integer(),
                                    given[2].integer_or(views::to_the_end), given[3].integer()));
}

Layout unchanged(const Layout& self) {
  return self;
}

std::vector<ViewGeometry> any_elements(const ViewGeometry& self, Given given) {
  const auto storage_numel =
      static_cast<std::int64_t>(self.storage_nbytes / byre::itemsize(self.dtype));
  return {self.with(views::as_strided(given[0].dims(), given[1].dims(),
                                      given[2].integer_or(self.layout.offset), storage_numel))};
}

/// The same bytes as `dtype`, whose layout `see` tells.
template <class See>
std::vector<ViewGeometry> as_dtype(const ViewGeometry& self, DType dtype, const See& see) {
  if (dtype == DType::boolean && self.dtype != DType::boolean) {
    throw DTypeError(
        format_text("view: not every byte is a bool. Compare the elements, by eq or ge, instead."));
  }
  return {{see(self.layout), dtype, self.storage_nbytes}};
}

std::vector<ViewGeometry> as_other_dtype(const ViewGeometry& self, Given given) {
  const DType dtype = given[0].dtype();
  if (dtype == DType::uninitialized) {
    throw DTypeError(format_text("view: as no dtype. Name one."));
  }
  return as_dtype(self, dtype, [&](const Layout& layout) {
    return views::with_itemsize(layout, byre::itemsize(self.dtype), byre::itemsize(dtype));
  });
}

std::vector<ViewGeometry> as_real(const ViewGeometry& self, Given) {
  if (self.dtype != DType::complex64) {
    throw DTypeError(
        format_text("view_as_real: of %s. It takes complex64.", byre::name_of(self.dtype)));
  }
  return as_dtype(self, DType::f32, views::as_real);
}

std::vector<ViewGeometry> as_complex(const ViewGeometry& self, Given) {
  if (self.dtype != DType::f32) {
    throw DTypeError(
        format_text("view_as_complex: of %s. It takes f32, by pairs.", byre::name_of(self.dtype)));
  }
  return as_dtype(self, DType::complex64, views::as_complex);
}

using Parts = std::vector<Layout>;
using Axis = std::int64_t;

enum class Makes : std::uint8_t { one, one_or_in_place, parts };

struct ViewRow {
  const char* name;
  const char* parameters;
  ViewRule rule;
  Makes makes = Makes::one;
};

}  // namespace

void detail::define_views() {
  using enum Makes;
  const ViewRow all[] = {
      {"alias", "", by<unchanged>()},
      {"view", ", int[] sizes", by<views::view>()},
      {"view.dtype", ", DType dtype", as_other_dtype},
      {"view_as_real", "", as_real},
      {"view_as_complex", "", as_complex},
      {"permute", ", Axis[] axes", by<views::permute>(), one_or_in_place},
      {"transpose", ", Axis first, Axis second", by<views::transpose>(), one_or_in_place},
      {"t", "", by<views::t>(), one_or_in_place},
      {"movedim", ", Axis[] from, Axis[] to", by<views::movedim>(), one_or_in_place},
      {"squeeze", "", by<static_cast<Layout (*)(const Layout&)>(views::squeeze)>(),
       one_or_in_place},
      {"squeeze.axis", ", Axis axis",
       by<static_cast<Layout (*)(const Layout&, Axis)>(views::squeeze)>(), one_or_in_place},
      {"unsqueeze", ", int axis", by<views::unsqueeze>(), one_or_in_place},
      {"flatten", ", Axis first=0, Axis last=-1", by<views::flatten>()},
      {"expand", ", int[] sizes", by<views::expand>()},
      {"as_strided", ", int[] sizes, int[] strides, int? offset=none", any_elements,
       one_or_in_place},
      {"select", ", Axis axis, int index", by<views::select>()},
      {"slice", ", Axis axis, int start=0, int? end=none, int step=1", any_slice},
      {"narrow", ", Axis axis, int start, int length", by<views::narrow>()},
      {"diagonal", ", int offset=0, Axis first=0, Axis second=1", by<views::diagonal>()},
      {"unfold", ", Axis axis, int size, int step", by<views::unfold>()},
      {"split", ", int size, Axis axis=0",
       by<static_cast<Parts (*)(const Layout&, Axis, Axis)>(views::split)>(), parts},
      {"split.sizes", ", int[] sizes, Axis axis=0",
       by<static_cast<Parts (*)(const Layout&, const Dims&, Axis)>(views::split)>(), parts},
      {"chunk", ", int count, Axis axis=0", by<views::chunk>(), parts},
      {"unbind", ", Axis axis=0", by<views::unbind>(), parts},
  };
  for (const auto& [name, parameters, rule, makes] : all) {
    const std::string behind_self = std::string(" self") + parameters + ") -> Tensor";
    define(name + ("(Tensor(a)" + behind_self) + "(a)" + (makes == parts ? "[]" : "")).view(rule);
    if (makes == one_or_in_place) {
      define(with_suffix(name, "_") + "(Tensor(a!)" + behind_self + "(a!)");
    }
  }
}

}  // namespace byre::inline v0::functional
