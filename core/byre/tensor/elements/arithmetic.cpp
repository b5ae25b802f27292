// SPDX-License-Identifier: BSL-1.0
/// Arithmetic: each operation is one function object, for whatever types it has a meaning for.
#include <byre/tensor/elements.hpp>
#include <byre/tensor/elements/arithmetic.hpp>
#include <byre/tensor/elements/pointwise.hpp>

#include <algorithm>
#include <cmath>

namespace byre::inline v0 {
namespace {

using detail::compute_into;
using detail::computed;
using detail::expect_category_holds;
using detail::expect_operands;
using detail::kernel_of;

struct Subtract {
  template <detail::Number T>
  T operator()(T a, T b) const {
    return static_cast<T>(detail::Wrapping<T>(a) - detail::Wrapping<T>(b));
  }
};

struct Divide {
  template <class T>
  requires(!std::integral<T>) T operator()(T a, T b) const { return a / b; }
};

struct Negate {
  template <detail::Number T>
  T operator()(T a) const {
    return static_cast<T>(-detail::Wrapping<T>(a));
  }
};

struct Rectify {
  template <detail::Number T>
  requires(!detail::is_complex<T>) T operator()(T a) const {
    return std::max(a, T{0});  // which is a where that is not a number
  }
};

struct Exponentiate {
  template <class T>
  requires(!std::integral<T>) T operator()(T a) const { return std::exp(a); }
};

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
  return binary<Subtract>("sub", site, a, b);
}

Tensor& sub_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<Subtract>("sub_", site, self, other);
}

Tensor mul(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<detail::Multiply>("mul", site, a, b);
}

Tensor& mul_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<detail::Multiply>("mul_", site, self, other);
}

Tensor div(const Tensor& a, const Tensor& b, CallSite site) {
  return binary<Divide>("div", site, a, b, promoted_to_floating);
}

Tensor& div_(Tensor& self, const Tensor& other, CallSite site) {
  return binary_in_place<Divide>("div_", site, self, other, promoted_to_floating);
}

Tensor neg(const Tensor& a, CallSite site) {
  return unary<Negate>("neg", site, a);
}

Tensor& neg_(Tensor& self, CallSite site) {
  return unary_in_place<Negate>("neg_", site, self);
}

Tensor relu(const Tensor& a, CallSite site) {
  return unary<Rectify>("relu", site, a);
}

Tensor& relu_(Tensor& self, CallSite site) {
  return unary_in_place<Rectify>("relu_", site, self);
}

Tensor exp(const Tensor& a, CallSite site) {
  return unary<Exponentiate>("exp", site, a, promoted_to_floating);
}

Tensor& exp_(Tensor& self, CallSite site) {
  return unary_in_place<Exponentiate>("exp_", site, self, promoted_to_floating);
}

}  // namespace byre::inline v0
