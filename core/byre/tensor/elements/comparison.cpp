// SPDX-License-Identifier: BSL-1.0
/// Comparisons, and the choice by what they yield.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/detail/comparison.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>

namespace byre::inline v0 {
namespace {

template <class Operation>
Tensor compared(const char* name, CallSite site, const Tensor& a, const Tensor& b) {
  detail::expect_operands(name, {&a, &b});
  const auto kernel = detail::kernel_of<Operation, 2>(promoted(a.dtype(), b.dtype()), name);
  return detail::computed<2>(name, site, kernel, DType::boolean, {&a, &b});
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b, CallSite site) {
  return compared<detail::Equal>("eq", site, a, b);
}

Tensor ge(const Tensor& a, const Tensor& b, CallSite site) {
  return compared<detail::GreaterOrEqual>("ge", site, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, CallSite site) {
  detail::expect_operands("where", {&condition, &a, &b});
  if (condition.dtype() != DType::boolean) {
    throw DTypeError(format_text(
        "where: the condition is of %s, and has to be of bool, as comparisons yield it.",
        name_of(condition.dtype())));
  }
  const DType dtype = promoted(a.dtype(), b.dtype());
  const auto kernel = detail::visit_computed<detail::Kernel<3>>(dtype, "where", []<class T>() {
    return detail::kernel_of_types<detail::Select, bool, T, T>();
  });
  return detail::computed<3>("where", site, kernel, dtype, {&condition, &a, &b});
}

}  // namespace byre::inline v0
