// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/elements/detail/overlap.hpp>

#include <algorithm>
#include <array>

#include "generate.hpp"

namespace byre::test {
namespace {

using Names = std::vector<std::string>;

/// True for operators along axes: the first parameter is a tensor, and all others are axes.
bool is_along_axes(const functional::Operator& op) {
  using functional::Type;
  const auto& parameters = op.schema().parameters;
  return op.has(functional::Tag::axis_shift) && parameters.front().type == Type::tensor &&
         std::all_of(parameters.begin() + 1, parameters.end(), [](const auto& parameter) {
           return parameter.type == Type::axis || parameter.type == Type::axes;
         });
}

struct Weighted {
  std::array<unsigned, 3> by_flavor;
  Names operators;
};

std::vector<Kind> table_of(Flavor flavor) {
  const auto is_view = [](const auto& op) { return op.effect() == Effect::view; };
  const auto is_view_in_place = [](const auto& op) { return op.view_variant() != nullptr; };
  const auto is_variant_of_view = [](const auto& op) {
    return op.name().find("_copy") != std::string::npos || op.name().ends_with("_scatter");
  };
  static const std::vector<Weighted> all{
      {{42, 0, 80}, operators_that(is_view)},
      {{7, 0, 0}, operators_that(is_view_in_place)},
      {{0, 4, 0}, operators_that(is_variant_of_view)},
      {{6, 0, 0}, {"add_.scalar", "sub_.scalar", "mul_.scalar", "div_.scalar"}},
      {{6, 0, 0}, {"add_", "sub_", "mul_", "div_"}},
      {{3, 0, 0}, {"neg_", "relu_", "exp_", "proof_double_"}},
      {{3, 0, 0}, {"fill_"}},
      {{2, 0, 5}, {"zero_"}},
      {{2, 0, 0}, {"proof_exchange_"}},
      {{5, 0, 15}, {"copy_"}},
      {{1, 0, 0}, {"set_"}},
      {{2, 0, 0}, {"resize_"}},
      {{2, 2, 0}, {"add", "sub", "mul", "div", "eq", "ge"}},
      {{1, 1, 0},
       {"add.scalar", "sub.scalar", "mul.scalar", "div.scalar", "eq.scalar", "ge.scalar"}},
      {{1, 1, 0}, {"where"}},
      {{2, 2, 0}, {"neg", "relu", "exp", "clone", "contiguous", "proof_halves"}},
      {{2, 2, 0}, {"sum", "sum.axes", "matmul"}},
      {{1, 1, 0}, {"to"}},
      {{1, 1, 0}, operators_that(is_along_axes)},
      {{1, 2, 0}, {"cat", "reshape"}},
      {{2, 0, 0}, {"sum.out", "matmul.out"}},
      {{1, 0, 0}, {"where.out"}},
      {{1, 0, 0}, {"neg.out", "relu.out", "exp.out"}},
      {{1, 0, 0}, {"cat.out"}},
      {{1, 0, 0}, {"add.out", "sub.out", "mul.out", "div.out"}},
      {{3, 0, 0}, {"zeros", "ones"}},
      {{2, 0, 0}, {"arange"}}};
  std::vector<Kind> some;
  for (const Weighted& kind : all) {
    if (const unsigned weight = kind.by_flavor[static_cast<std::size_t>(flavor)]; weight != 0) {
      some.push_back({weight, kind.operators});
    }
  }
  return some;
}

/// Swaps the elements. Throws ShapeError if sizes or dtypes differ, or the tensors overlap.
void exchange(Tensor& a, Tensor& b) {
  detail::expect_distinct_elements(a, "exchange");
  detail::expect_distinct_elements(b, "exchange");
  if (&a == &b || a.sizes() != b.sizes() || a.dtype() != b.dtype() ||
      detail::expect_no_partial_overlap(a, b, b.layout(), "exchange") != detail::Overlap::none) {
    throw ShapeError(format_text("exchange: the tensors overlap, or differ in sizes or dtype"));
  }
  const Tensor kept = a.clone();
  copy_(a, b);
  copy_(b, kept);
}

}  // namespace

Names operators_that(const std::function<bool(const functional::Operator&)>& fits) {
  Names names;
  for (const functional::Operator* const op : functional::operators()) {
    if (fits(*op)) {
      names.push_back(op->name());
    }
  }
  return names;
}

void define_user_operators() {
  static const bool once = [] {
    functional::define("proof_corners(Tensor(a) self) -> Tensor(a)")
        .view([](const ViewGeometry& self, std::span<const Argument>) {
          Layout corners = self.layout;
          for (std::size_t axis = 0; axis < corners.ndim(); ++axis) {
            if (corners.sizes[axis] > 1) {
              corners.strides[axis] *= corners.sizes[axis] - 1;
              corners.sizes[axis] = 2;
            }
          }
          return std::vector{self.with(std::move(corners))};
        });
    functional::define("proof_double_(Tensor(a!) self) -> (Tensor(a!), Tensor)")
        .cpu([](Tensor& self) {
          Tensor before = self.clone();
          mul_(self, Scalar(2));
          return before;
        });
    functional::define("proof_exchange_(Tensor(a!) a, Tensor(b!) b) -> ()")
        .cpu([](Tensor& a, Tensor& b) { exchange(a, b); });
    functional::define("proof_halves(Tensor a) -> (Tensor, Tensor)").cpu([](const Tensor& a) {
      const Tensor flat = a.clone().view({-1});
      const std::int64_t middle = flat.numel() / 2;
      return std::vector{flat.slice(0, 0, middle).clone(),
                         flat.slice(0, middle, flat.numel()).clone()};
    });
    return true;
  }();
  static_cast<void>(once);
}

const std::vector<Kind>& kinds_of(Flavor flavor) {
  define_user_operators();
  static const std::array all{table_of(Flavor::anything), table_of(Flavor::pure),
                              table_of(Flavor::views)};
  return all[static_cast<std::size_t>(flavor)];
}

}  // namespace byre::test
