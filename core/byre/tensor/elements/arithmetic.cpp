// SPDX-License-Identifier: BSL-1.0
/// Arithmetic: what computes each operation is in arithmetic.hpp.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/arithmetic.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>

namespace byre::inline v0 {
namespace {

using detail::compute_into;
using detail::computed;
using detail::expect_category_holds;
using detail::expect_operands;
using detail::kernel_of;

/// The dtype that operands of a promoted dtype are computed in.
using DTypeRule = DType (*)(DType);

constexpr DType as_they_are(DType dtype) noexcept {
  return dtype;
}

template <class Operation>
Tensor binary(const char* name, CallSite site, const Tensor& a, const Tensor& b,
              DTypeRule rule = as_they_are) {
  expect_operands(name, {&a, &b});
  const DType dtype = rule(promoted(a.dtype(), b.dtype()));
  return computed<2>(name, site, kernel_of<Operation, 2>(dtype, name), dtype, {&a, &b});
}

template <class Operation>
Tensor& binary_in_place(const char* name, CallSite site, Tensor& self, const Tensor& other,
                        DTypeRule rule = as_they_are) {
  expect_operands(name, {&self, &other});
  const DType dtype = rule(promoted(self.dtype(), other.dtype()));
  const auto kernel = kernel_of<Operation, 2>(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<2>(self, name, site, kernel, {&self, &other});
  return self;
}

template <class Operation>
Tensor unary(const char* name, CallSite site, const Tensor& a, DTypeRule rule = as_they_are) {
  expect_operands(name, {&a});
  const DType dtype = rule(a.dtype());
  return computed<1>(name, site, kernel_of<Operation, 1>(dtype, name), dtype, {&a});
}

template <class Operation>
Tensor& unary_in_place(const char* name, CallSite site, Tensor& self,
                       DTypeRule rule = as_they_are) {
  expect_operands(name, {&self});
  const DType dtype = rule(self.dtype());
  const auto kernel = kernel_of<Operation, 1>(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<1>(self, name, site, kernel, {&self});
  return self;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<detail::Add>("add", site, a, b);
}

Tensor& add_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<detail::Add>("add_", site, self, other);
}

Tensor sub(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<detail::Subtract>("sub", site, a, b);
}

Tensor& sub_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<detail::Subtract>("sub_", site, self, other);
}

Tensor mul(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<detail::Multiply>("mul", site, a, b);
}

Tensor& mul_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<detail::Multiply>("mul_", site, self, other);
}

Tensor div(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<detail::Divide>("div", site, a, b, promoted_to_floating);
}

Tensor& div_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<detail::Divide>("div_", site, self, other, promoted_to_floating);
}

Tensor neg(const Tensor& a, CallSite site) {
  return unary<detail::Negate>("neg", site, a);
}

Tensor& neg_(Tensor& self, CallSite site) {
  return unary_in_place<detail::Negate>("neg_", site, self);
}

Tensor relu(const Tensor& a, CallSite site) {
  return unary<detail::Rectify>("relu", site, a);
}

Tensor& relu_(Tensor& self, CallSite site) {
  return unary_in_place<detail::Rectify>("relu_", site, self);
}

Tensor exp(const Tensor& a, CallSite site) {
  return unary<detail::Exponentiate>("exp", site, a, promoted_to_floating);
}

Tensor& exp_(Tensor& self, CallSite site) {
  return unary_in_place<detail::Exponentiate>("exp_", site, self, promoted_to_floating);
}

}  // namespace byre::inline v0
