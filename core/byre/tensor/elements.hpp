// SPDX-License-Identifier: BSL-1.0
/// Operations on elements: enough to write a program with, for every dtype and any strides. Not a
/// numerics library: where the speed of kernels matters, bring your own through the data pointers.
///
/// Operands are promoted and results rounded as promotion.hpp says, and operands broadcast by NumPy's
/// rule. A number may stand in for either operand, and is refused where it does not fit: see Scalar.
/// Integers wrap around. Results are contiguous, whatever the strides of the operands: of transposed ones
/// too.
///
/// Results do not depend on the floating-point environment of the caller: flush-to-zero, the rounding mode and traps
/// are put aside while elements are computed, and are as before afterwards.
///
/// A name that ends in _ writes its first operand, which keeps its sizes and dtype: the others
/// broadcast to it, and the result's category may not be higher. An operand may be the very tensor
/// that is written, or have no element in common with it; one that overlaps it in part, or may, is
/// refused. Lazy clones of what is written never change.
///
/// All throw before anything changed: StateError for an uninitialized operand or no tensor; DeviceError off the
/// host, but for fill_, zero_ and copy_; ShapeError for sizes that do not fit and for overlap;
/// DTypeError for dtypes that an operation has no meaning for; OutOfMemory.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace byre::inline v0 {

namespace detail {

/// A call site that no list in braces is taken for: another overload takes those for axes.
class ExplicitCallSite {
 public:
  constexpr explicit ExplicitCallSite(CallSite site) noexcept : site_(site) {}
  constexpr CallSite site() const noexcept { return site_; }

 private:
  CallSite site_;
};

}  // namespace detail

// ---- writing. Each takes a handle, which may be a temporary view, and returns it. These give memory to a storage-uninitialized tensor

/// Needs a dtype: converts the value to it, as copy_ does, but for an integer that an integral dtype
/// has not: throws DTypeError.
BYRE_API Tensor fill_(Tensor self, const Scalar& value, CallSite site = CallSite::current());
BYRE_API Tensor zero_(Tensor self, CallSite site = CallSite::current());
/// Converts and broadcasts, between any devices. A dtype-uninitialized tensor takes the source's
/// dtype. Any dtype becomes any other: floating-point numbers are truncated to integers, saturating,
/// with 0 for not a number; integers wrap around; what a narrower floating-point dtype has not is
/// rounded, and infinite out of range; complex numbers lose their imaginary part; what is not 0 is true.
/// The same on every machine.
BYRE_API Tensor copy_(Tensor self, const Tensor& source, CallSite site = CallSite::current());

// ---- arithmetic

/// Of bool: or.
BYRE_API Tensor add(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor add_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// Not of bool and bool. A bool beside another dtype is 0 or 1.
BYRE_API Tensor sub(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor sub_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// Of bool: and.
BYRE_API Tensor mul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor mul_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// True division: of integers and bool as f32.
BYRE_API Tensor div(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor div_(Tensor self, const Tensor& other, CallSite site = CallSite::current());

/// Not of bool.
BYRE_API Tensor neg(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor neg_(Tensor self, CallSite site = CallSite::current());
/// The greater of each element and 0; not a number stays so. Not of bool and complex.
BYRE_API Tensor relu(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor relu_(Tensor self, CallSite site = CallSite::current());
/// Of integers and bool as f32. Of f32 and f64 within 1 ulp; the last bit may differ between kinds of
/// machine, and not between places of a tensor.
BYRE_API Tensor exp(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor exp_(Tensor self, CallSite site = CallSite::current());

// ---- comparison, to bool; exact also for an integer that the tensor's integral dtype has not

BYRE_API Tensor eq(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// Not of complex, which have no order.
BYRE_API Tensor ge(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// Elements of `a` where `condition`, of bool, is true, else of `b`.
BYRE_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
                      CallSite site = CallSite::current());

// ---- of many elements one

/// Of all elements, or over `axes`, which go, or stay as 1; over no axes, each element. Integers and
/// bool are summed as i64, the halves as float. In pairs, so that the error grows with the logarithm
/// of the count. Throws ShapeError for an axis that is not there or named twice.
BYRE_API Tensor sum(const Tensor& a,
                    detail::ExplicitCallSite site = detail::ExplicitCallSite(CallSite::current()));
BYRE_API Tensor sum(const Tensor& a, const Dims& axes, bool keepdim = false,
                    CallSite site = CallSite::current());

/// The matrix product of the last two dimensions; those before broadcast. A first operand of one
/// dimension is a row and a second one a column, whose dimension of 1 the result does not have.
/// Throws ShapeError also for an operand of no dimensions.
BYRE_API Tensor matmul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());

/// The tensors behind each other along `axis`, as their promoted dtype. Throws ShapeError for no
/// tensors, and where sizes differ in another dimension.
BYRE_API Tensor cat(std::span<const Tensor> tensors, std::int64_t axis = 0,
                    CallSite site = CallSite::current());

inline Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
                  CallSite site = CallSite::current()) {
  return cat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, site);
}

// ---- elsewhere

/// A copy with the elements along each of `axes` in reverse order, as strides are never negative. Throws
/// ShapeError for an axis that is not there or named twice.
BYRE_API Tensor flip(const Tensor& a, const Dims& axes, CallSite site = CallSite::current());

// ---- with a number for a tensor

inline Tensor add(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return add(a, b.operand_for(a, "add"), site);
}
inline Tensor add(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return add(a.operand_for(b, "add"), b, site);
}
inline Tensor add_(Tensor self, const Scalar& b, CallSite site = CallSite::current()) {
  return add_(self, b.operand_for(self, "add_"), site);
}
inline Tensor sub(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return sub(a, b.operand_for(a, "sub"), site);
}
inline Tensor sub(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return sub(a.operand_for(b, "sub"), b, site);
}
inline Tensor sub_(Tensor self, const Scalar& b, CallSite site = CallSite::current()) {
  return sub_(self, b.operand_for(self, "sub_"), site);
}
inline Tensor mul(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return mul(a, b.operand_for(a, "mul"), site);
}
inline Tensor mul(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return mul(a.operand_for(b, "mul"), b, site);
}
inline Tensor mul_(Tensor self, const Scalar& b, CallSite site = CallSite::current()) {
  return mul_(self, b.operand_for(self, "mul_"), site);
}
inline Tensor div(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return div(a, b.operand_for(a, "div"), site);
}
inline Tensor div(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return div(a.operand_for(b, "div"), b, site);
}
inline Tensor div_(Tensor self, const Scalar& b, CallSite site = CallSite::current()) {
  return div_(self, b.operand_for(self, "div_"), site);
}
inline Tensor eq(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return eq(a, b.compared_with(a, "eq"), site);
}
inline Tensor eq(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return eq(a.compared_with(b, "eq"), b, site);
}
inline Tensor ge(const Tensor& a, const Scalar& b, CallSite site = CallSite::current()) {
  return ge(a, b.compared_with(a, "ge"), site);
}
inline Tensor ge(const Scalar& a, const Tensor& b, CallSite site = CallSite::current()) {
  return ge(a.compared_with(b, "ge"), b, site);
}
inline Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b,
                    CallSite site = CallSite::current()) {
  return where(condition, a, b.operand_for(a, "where"), site);
}
inline Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b,
                    CallSite site = CallSite::current()) {
  return where(condition, a.operand_for(b, "where"), b, site);
}
/// Of the higher category of the two numbers: bool, i64, f32 or complex64.
inline Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b,
                    CallSite site = CallSite::current()) {
  const DType dtype = promoted(a.dtype_alone(), b.dtype_alone());
  return where(condition, a.to_tensor(dtype), b.to_tensor(dtype), site);
}

}  // namespace byre::inline v0
