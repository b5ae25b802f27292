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

/// The dtype that operands of a promoted dtype are computed in.
using DTypeRule = DType (*)(DType);

constexpr DType as_they_are(DType dtype) noexcept {
  return dtype;
}

/// The kernel of an operation for operands of a dtype: kernel_of.
template <std::size_t Count>
using KernelOf = detail::Kernel<Count> (*)(DType dtype, const char* operation);

Tensor binary(const char* name, CallSite site, const Tensor& a, const Tensor& b, KernelOf<2> kernel,
              DTypeRule rule = as_they_are) {
  expect_operands(name, {&a, &b});
  const DType dtype = rule(promoted(a.dtype(), b.dtype()));
  return computed<2>(name, site, kernel(dtype, name), dtype, {&a, &b});
}

Tensor& binary_in_place(const char* name, CallSite site, Tensor& self, const Tensor& other,
                        KernelOf<2> kernel_of, DTypeRule rule = as_they_are) {
  expect_operands(name, {&self, &other});
  const DType dtype = rule(promoted(self.dtype(), other.dtype()));
  const auto kernel = kernel_of(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<2>(self, name, site, kernel, {&self, &other});
  return self;
}

Tensor unary(const char* name, CallSite site, const Tensor& a, KernelOf<1> kernel,
             DTypeRule rule = as_they_are) {
  expect_operands(name, {&a});
  const DType dtype = rule(a.dtype());
  return computed<1>(name, site, kernel(dtype, name), dtype, {&a});
}

Tensor& unary_in_place(const char* name, CallSite site, Tensor& self, KernelOf<1> kernel_of,
                       DTypeRule rule = as_they_are) {
  expect_operands(name, {&self});
  const DType dtype = rule(self.dtype());
  const auto kernel = kernel_of(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<1>(self, name, site, kernel, {&self});
  return self;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, CallSite site) {
  return binary("add", site, a, b, detail::kernel_of<detail::Add, 2>);
}

Tensor add_(Tensor self, const Tensor& other, CallSite site) {
  return binary_in_place("add_", site, self, other, detail::kernel_of<detail::Add, 2>);
}

Tensor sub(const Tensor& a, const Tensor& b, CallSite site) {
  return binary("sub", site, a, b, detail::kernel_of<detail::Subtract, 2>);
}

Tensor sub_(Tensor self, const Tensor& other, CallSite site) {
  return binary_in_place("sub_", site, self, other, detail::kernel_of<detail::Subtract, 2>);
}

Tensor mul(const Tensor& a, const Tensor& b, CallSite site) {
  return binary("mul", site, a, b, detail::kernel_of<detail::Multiply, 2>);
}

Tensor mul_(Tensor self, const Tensor& other, CallSite site) {
  return binary_in_place("mul_", site, self, other, detail::kernel_of<detail::Multiply, 2>);
}

Tensor div(const Tensor& a, const Tensor& b, CallSite site) {
  return binary("div", site, a, b, detail::kernel_of<detail::Divide, 2>, promoted_to_floating);
}

Tensor div_(Tensor self, const Tensor& other, CallSite site) {
  return binary_in_place("div_", site, self, other, detail::kernel_of<detail::Divide, 2>,
                         promoted_to_floating);
}

Tensor neg(const Tensor& a, CallSite site) {
  return unary("neg", site, a, detail::kernel_of<detail::Negate, 1>);
}

Tensor neg_(Tensor self, CallSite site) {
  return unary_in_place("neg_", site, self, detail::kernel_of<detail::Negate, 1>);
}

Tensor relu(const Tensor& a, CallSite site) {
  return unary("relu", site, a, detail::kernel_of<detail::Rectify, 1>);
}

Tensor relu_(Tensor self, CallSite site) {
  return unary_in_place("relu_", site, self, detail::kernel_of<detail::Rectify, 1>);
}

Tensor exp(const Tensor& a, CallSite site) {
  return unary("exp", site, a, detail::kernel_of<detail::Exponentiate, 1>, promoted_to_floating);
}

Tensor exp_(Tensor self, CallSite site) {
  return unary_in_place("exp_", site, self, detail::kernel_of<detail::Exponentiate, 1>,
                        promoted_to_floating);
}

}  // namespace byre::inline v0
