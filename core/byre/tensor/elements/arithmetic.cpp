// SPDX-License-Identifier: BSL-1.0
/// Arithmetic, comparisons, and the choice by what they yield: arithmetic.hpp computes each from element to element.
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

template <class... Other>
DType promoted_of(const Tensor& first, const Other&... others) {
  DType dtype = first.dtype();
  ((dtype = promoted(dtype, others.dtype())), ...);
  return dtype;
}

template <class... Other>
Tensor computed_from(const char* name, CallSite site, KernelOf<1 + sizeof...(Other)> kernel_of,
                     DTypeRule rule, const Tensor& a, const Other&... others) {
  expect_operands(name, {&a, &others...});
  const DType dtype = rule(promoted_of(a, others...));
  return computed<1 + sizeof...(Other)>(name, site, kernel_of(dtype, name), dtype,
                                        {&a, &others...});
}

template <class... Other>
Tensor& compute_in_place(const char* name, CallSite site, KernelOf<1 + sizeof...(Other)> kernel_of,
                         DTypeRule rule, Tensor& self, const Other&... others) {
  expect_operands(name, {&self, &others...});
  const DType dtype = rule(promoted_of(self, others...));
  const auto kernel = kernel_of(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<1 + sizeof...(Other)>(self, name, site, kernel, {&self, &others...});
  return self;
}

Tensor compared(const char* name, CallSite site, KernelOf<2> kernel_of, const Tensor& a,
                const Tensor& b) {
  expect_operands(name, {&a, &b});
  return computed<2>(name, site, kernel_of(promoted_of(a, b), name), DType::boolean, {&a, &b});
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from("add", site, detail::kernel_of<detail::Add, 2>, as_they_are, a, b);
}

Tensor add_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place("add_", site, detail::kernel_of<detail::Add, 2>, as_they_are, self,
                          other);
}

Tensor sub(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from("sub", site, detail::kernel_of<detail::Subtract, 2>, as_they_are, a, b);
}

Tensor sub_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place("sub_", site, detail::kernel_of<detail::Subtract, 2>, as_they_are, self,
                          other);
}

Tensor mul(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from("mul", site, detail::kernel_of<detail::Multiply, 2>, as_they_are, a, b);
}

Tensor mul_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place("mul_", site, detail::kernel_of<detail::Multiply, 2>, as_they_are, self,
                          other);
}

Tensor div(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from("div", site, detail::kernel_of<detail::Divide, 2>, promoted_to_floating, a,
                       b);
}

Tensor div_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place("div_", site, detail::kernel_of<detail::Divide, 2>, promoted_to_floating,
                          self, other);
}

Tensor neg(const Tensor& a, CallSite site) {
  return computed_from("neg", site, detail::kernel_of<detail::Negate, 1>, as_they_are, a);
}

Tensor neg_(Tensor self, CallSite site) {
  return compute_in_place("neg_", site, detail::kernel_of<detail::Negate, 1>, as_they_are, self);
}

Tensor relu(const Tensor& a, CallSite site) {
  return computed_from("relu", site, detail::kernel_of<detail::Rectify, 1>, as_they_are, a);
}

Tensor relu_(Tensor self, CallSite site) {
  return compute_in_place("relu_", site, detail::kernel_of<detail::Rectify, 1>, as_they_are, self);
}

Tensor exp(const Tensor& a, CallSite site) {
  return computed_from("exp", site, detail::kernel_of<detail::Exponentiate, 1>,
                       promoted_to_floating, a);
}

Tensor exp_(Tensor self, CallSite site) {
  return compute_in_place("exp_", site, detail::kernel_of<detail::Exponentiate, 1>,
                          promoted_to_floating, self);
}

Tensor eq(const Tensor& a, const Tensor& b, CallSite site) {
  return compared("eq", site, detail::kernel_of<detail::Equal, 2>, a, b);
}

Tensor ge(const Tensor& a, const Tensor& b, CallSite site) {
  return compared("ge", site, detail::kernel_of<detail::GreaterOrEqual, 2>, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, CallSite site) {
  expect_operands("where", {&condition, &a, &b});
  if (condition.dtype() != DType::boolean) {
    throw DTypeError(format_text(
        "where: the condition is of %s, and has to be of bool, as comparisons yield it.",
        name_of(condition.dtype())));
  }
  const DType dtype = promoted_of(a, b);
  const auto kernel = detail::visit_computed<detail::Kernel<3>>(dtype, "where", []<class T>() {
    return detail::kernel_of_types<detail::Select, bool, T, T>();
  });
  return computed<3>("where", site, kernel, dtype, {&condition, &a, &b});
}

}  // namespace byre::inline v0
