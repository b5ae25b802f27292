// SPDX-License-Identifier: BSL-1.0
/// The views of the tensor layer, each by what it sees, and in place where there is one view.
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/operators/detail/operators.hpp>
#include <byre/tensor/views.hpp>

#include <string>
#include <utility>

namespace byre::inline v0::functional {
namespace {

using Given = std::span<const Argument>;

/// The rule of a view from a function of the layout and the arguments.
template <class Function>
ViewRule one(Function function) {
  return [function](const ViewGeometry& self, Given given) {
    return std::vector{self.with(function(self.layout, given))};
  };
}

template <class Function>
ViewRule several(Function function) {
  return [function](const ViewGeometry& self, Given given) {
    std::vector<ViewGeometry> geometries;
    for (Layout& layout : function(self.layout, given)) {
      geometries.push_back(self.with(std::move(layout)));
    }
    return geometries;
  };
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

enum class InPlace : bool { no, yes };

/// `parameters` begin with a comma, if there are any.
void define_view(const std::string& name, const std::string& parameters, ViewRule rule,
                 InPlace in_place = InPlace::no) {
  detail::define_builtin(name + "(Tensor(a) self" + parameters + ") -> Tensor(a)")
      .view(std::move(rule));
  if (in_place == InPlace::yes) {
    const std::size_t end = std::min(name.find('.'), name.size());
    detail::define_builtin(name.substr(0, end) + "_" + name.substr(end) + "(Tensor(a!) self" +
                           parameters + ") -> Tensor(a!)");
  }
}

void define_views_of_parts(const std::string& name, const std::string& parameters, ViewRule rule) {
  detail::define_builtin(name + "(Tensor(a) self" + parameters + ") -> Tensor(a)[]")
      .view(std::move(rule));
}

void define_views_of_all() {
  define_view("alias", "", one([](const Layout& self, Given) { return self; }));
  define_view("view", ", int[] sizes", one([](const Layout& self, Given given) {
                return views::view(self, given[0].dims());
              }));
  define_view("view.dtype", ", DType dtype", as_other_dtype);
  define_view("view_as_real", "", as_real);
  define_view("view_as_complex", "", as_complex);
  define_view("permute", ", Axis[] axes", one([](const Layout& self, Given given) {
                return views::permute(self, given[0].dims());
              }),
              InPlace::yes);
  define_view("transpose", ", Axis first, Axis second", one([](const Layout& self, Given given) {
                return views::transpose(self, given[0].integer(), given[1].integer());
              }),
              InPlace::yes);
  define_view("t", "", one([](const Layout& self, Given) { return views::t(self); }), InPlace::yes);
  define_view("movedim", ", Axis[] from, Axis[] to", one([](const Layout& self, Given given) {
                return views::movedim(self, given[0].dims(), given[1].dims());
              }),
              InPlace::yes);
  define_view("squeeze", "", one([](const Layout& self, Given) { return views::squeeze(self); }),
              InPlace::yes);
  define_view("squeeze.axis", ", Axis axis", one([](const Layout& self, Given given) {
                return views::squeeze(self, given[0].integer());
              }),
              InPlace::yes);
  define_view("unsqueeze", ", int axis", one([](const Layout& self, Given given) {
                return views::unsqueeze(self, given[0].integer());
              }),
              InPlace::yes);
  define_view("flatten", ", Axis first=0, Axis last=-1", one([](const Layout& self, Given given) {
                return views::flatten(self, given[0].integer(), given[1].integer());
              }));
  define_view("expand", ", int[] sizes", one([](const Layout& self, Given given) {
                return views::expand(self, given[0].dims());
              }));
}

void define_views_of_some() {
  define_view("as_strided", ", int[] sizes, int[] strides, int? offset=none", any_elements,
              InPlace::yes);
  define_view("select", ", Axis axis, int index", one([](const Layout& self, Given given) {
                return views::select(self, given[0].integer(), given[1].integer());
              }));
  define_view("slice", ", Axis axis, int start=0, int? end=none, int step=1",
              one([](const Layout& self, Given given) {
                return views::slice(self, given[0].integer(), given[1].integer(),
                                    given[2].integer_or(views::to_the_end), given[3].integer());
              }));
  define_view(
      "narrow", ", Axis axis, int start, int length", one([](const Layout& self, Given given) {
        return views::narrow(self, given[0].integer(), given[1].integer(), given[2].integer());
      }));
  define_view("diagonal", ", int offset=0, Axis first=0, Axis second=1",
              one([](const Layout& self, Given given) {
                return views::diagonal(self, given[0].integer(), given[1].integer(),
                                       given[2].integer());
              }));
  define_view("unfold", ", Axis axis, int size, int step", one([](const Layout& self, Given given) {
                return views::unfold(self, given[0].integer(), given[1].integer(),
                                     given[2].integer());
              }));
  define_views_of_parts("split", ", int size, Axis axis=0",
                        several([](const Layout& self, Given given) {
                          return views::split(self, given[0].integer(), given[1].integer());
                        }));
  define_views_of_parts("split.sizes", ", int[] sizes, Axis axis=0",
                        several([](const Layout& self, Given given) {
                          return views::split(self, given[0].dims(), given[1].integer());
                        }));
  define_views_of_parts("chunk", ", int count, Axis axis=0",
                        several([](const Layout& self, Given given) {
                          return views::chunk(self, given[0].integer(), given[1].integer());
                        }));
  define_views_of_parts("unbind", ", Axis axis=0", several([](const Layout& self, Given given) {
                          return views::unbind(self, given[0].integer());
                        }));
}

}  // namespace

void detail::define_views() {
  define_views_of_all();
  define_views_of_some();
}

}  // namespace byre::inline v0::functional
