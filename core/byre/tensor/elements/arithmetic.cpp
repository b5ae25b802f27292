// SPDX-License-Identifier: BSL-1.0
/// Arithmetic, comparisons and where() on tensors. detail/arithmetic.hpp implements these
/// operations on single elements.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/arithmetic.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>

namespace byre::inline BYRE_ABI {
namespace {

using detail::compute_into;
using detail::computed;
using detail::expect_category_holds;
using detail::expect_operands;

/// Maps the promoted dtype of the operands to the dtype of the computation.
using DTypeRule = DType (*)(DType);

constexpr DType unchanged(DType dtype) noexcept {
  return dtype;
}

template <class... Other>
DType promoted_of(const Tensor& first, const Other&... others) {
  DType dtype = first.dtype();
  ((dtype = promoted(dtype, others.dtype())), ...);
  return dtype;
}

template <class Operation, DTypeRule rule = unchanged, class... Other>
Tensor computed_from(const char* name, CallSite site, const Tensor& a, const Other&... others) {
  constexpr std::size_t count = 1 + sizeof...(Other);
  expect_operands(name, {&a, &others...});
  const DType dtype = rule(promoted_of(a, others...));
  const auto kernel = detail::kernel_of<Operation, count>(dtype, name);
  return computed<count>(name, site, kernel, dtype, {&a, &others...});
}

template <class Operation, DTypeRule rule = unchanged, class... Other>
Tensor& compute_in_place(const char* name, CallSite site, Tensor& self, const Other&... others) {
  constexpr std::size_t count = 1 + sizeof...(Other);
  expect_operands(name, {&self, &others...});
  const DType dtype = rule(promoted_of(self, others...));
  const auto kernel = detail::kernel_of<Operation, count>(dtype, name);
  expect_category_holds(self.dtype(), dtype, name);
  compute_into<count>(self, name, site, kernel, {&self, &others...});
  return self;
}

template <class Operation>
Tensor compared(const char* name, CallSite site, const Tensor& a, const Tensor& b) {
  expect_operands(name, {&a, &b});
  const auto kernel = detail::kernel_of<Operation, 2>(promoted_of(a, b), name);
  return computed<2>(name, site, kernel, DType::boolean, {&a, &b});
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from<detail::Add>("add", site, a, b);
}

Tensor add_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place<detail::Add>("add_", site, self, other);
}

Tensor sub(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from<detail::Subtract>("sub", site, a, b);
}

Tensor sub_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place<detail::Subtract>("sub_", site, self, other);
}

Tensor mul(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from<detail::Multiply>("mul", site, a, b);
}

Tensor mul_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place<detail::Multiply>("mul_", site, self, other);
}

Tensor div(const Tensor& a, const Tensor& b, CallSite site) {
  return computed_from<detail::Divide, promoted_to_floating>("div", site, a, b);
}

Tensor div_(Tensor self, const Tensor& other, CallSite site) {
  return compute_in_place<detail::Divide, promoted_to_floating>("div_", site, self, other);
}

Tensor neg(const Tensor& a, CallSite site) {
  return computed_from<detail::Negate>("neg", site, a);
}

Tensor neg_(Tensor self, CallSite site) {
  return compute_in_place<detail::Negate>("neg_", site, self);
}

Tensor relu(const Tensor& a, CallSite site) {
  return computed_from<detail::Rectify>("relu", site, a);
}

Tensor relu_(Tensor self, CallSite site) {
  return compute_in_place<detail::Rectify>("relu_", site, self);
}

Tensor exp(const Tensor& a, CallSite site) {
  return computed_from<detail::Exponentiate, promoted_to_floating>("exp", site, a);
}

Tensor exp_(Tensor self, CallSite site) {
  return compute_in_place<detail::Exponentiate, promoted_to_floating>("exp_", site, self);
}

Tensor eq(const Tensor& a, const Tensor& b, CallSite site) {
  return compared<detail::Equal>("eq", site, a, b);
}

Tensor ge(const Tensor& a, const Tensor& b, CallSite site) {
  return compared<detail::GreaterOrEqual>("ge", site, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, CallSite site) {
  expect_operands("where", {&condition, &a, &b});
  if (condition.dtype() != DType::boolean) {
    throw DTypeError(format_text(
        "where: the condition is of %s, required is bool. Use the result of a comparison.",
        name_of(condition.dtype())));
  }
  const DType dtype = promoted_of(a, b);
  const auto kernel = detail::visit_computed<detail::Kernel<3>>(dtype, "where", []<class T>() {
    return detail::kernel_of_types<detail::Select, bool, T, T>();
  });
  return computed<3>("where", site, kernel, dtype, {&condition, &a, &b});
}

}  // namespace byre::inline BYRE_ABI
