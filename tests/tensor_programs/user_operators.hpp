// SPDX-License-Identifier: BSL-1.0
/// Operators as users define them: the pass knows their schemas, and nothing else.
#pragma once

#include <byre/tensor/elements/detail/overlap.hpp>

#include "program.hpp"

namespace byre::test {

/// Throws for tensors that are not alike, and for those that have elements in common.
inline void exchange(Tensor& a, Tensor& b) {
  const auto extent_of = [](const Tensor& tensor) {
    const auto itemsize = static_cast<std::int64_t>(tensor.itemsize());
    return detail::Extent{static_cast<std::uintptr_t>(tensor.storage_offset() * itemsize),
                          tensor.layout(), itemsize};
  };
  detail::expect_distinct_elements(a, "exchange");
  detail::expect_distinct_elements(b, "exchange");
  const bool have_elements_in_common =
      &a == &b ||
      (a.aliases(b) && detail::overlap_of(extent_of(a), extent_of(b)) != detail::Overlap::none);
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || have_elements_in_common) {
    throw ShapeError(
        format_text("exchange: the tensors have elements in common, or are not alike"));
  }
  const Tensor kept = a.clone();
  copy_(a, b);
  copy_(b, kept);
}

/// proof_corners, a view; proof_double_, which writes, and returns something new; proof_exchange_,
/// which writes two, and returns nothing; proof_halves, which is pure, and returns two.
inline void define_user_operators() {
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

}  // namespace byre::test
