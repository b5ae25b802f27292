// SPDX-License-Identifier: BSL-1.0
/// Operations on the elements of tensors, for every dtype and any strides: enough to write complete
/// programs. It is not a numerics library: for fast kernels, use data pointers and kernels of your
/// own.
///
/// For all operations, unless one says otherwise:
/// - Operands are promoted and results rounded by the rules of promotion.hpp, and operands
///   broadcast by NumPy's rule. A Scalar may replace either operand; it is rejected if it does not
///   fit.
/// - Integers wrap around on overflow.
/// - Results are contiguous for any strides of the operands, transposed ones included.
/// - Results do not depend on the floating-point environment of the caller. While elements are
///   computed, flush-to-zero, the rounding mode and traps are set to their defaults; afterwards
///   they are restored.
/// - An operation whose name ends in _ writes its first operand, whose sizes and dtype do not
///   change. The other operands broadcast to it, and the category of the result must not be higher.
///   An operand may have exactly the elements that are written, or none of them. An operand that
///   overlaps them in part, or may overlap them, is rejected. Lazy clones of the written tensor
///   never change.
/// - Throws, before anything changes: StateError if an operand is uninitialized or an empty handle;
///   DeviceError if one is not on the host, except for fill_, zero_ and copy_; ShapeError if sizes
///   do not fit or operands overlap; DTypeError if the operation does not support a dtype;
///   OutOfMemory.
/// - Cost: O(n) in the number of elements. Reading an operand copies nothing.
/// - Thread-safety: an operation reads its operands and, if its name ends in _, writes the first,
///   by the rules of Tensor.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace byre::inline v0 {

namespace detail {

/// A call site that a list in braces does not convert to, so that sum(x, {0}) takes the list as
/// axes.
class ExplicitCallSite {
 public:
  constexpr explicit ExplicitCallSite(CallSite site) noexcept : site_(site) {}
  constexpr CallSite site() const noexcept { return site_; }

 private:
  CallSite site_;
};

}  // namespace detail

// ---- writing. Each operation takes a handle, which may be a temporary view, and returns it.
// fill_, zero_ and copy_ allocate the memory of a storage-uninitialized tensor.

/// Sets all elements to `value`, converted to the dtype as by copy_. Throws DTypeError if `value`
/// is an integer out of range of an integral dtype, StateError if `self` is dtype-uninitialized.
BYRE_API Tensor fill_(Tensor self, const Scalar& value, CallSite site = CallSite::current());
/// As fill_(self, 0).
BYRE_API Tensor zero_(Tensor self, CallSite site = CallSite::current());
/// Copies the elements of `source`, which broadcast to `self`, between any devices. If `self` is
/// dtype-uninitialized, it takes the dtype of `source`. Otherwise converts, for any two dtypes and
/// with equal results on every machine:
/// - floating-point to integer: truncated and saturated; NaN becomes 0;
/// - integer to integer: wrapped around;
/// - to a narrower floating-point dtype: rounded; infinite if out of range;
/// - complex to real: the real part;
/// - to bool: true unless 0.
BYRE_API Tensor copy_(Tensor self, const Tensor& source, CallSite site = CallSite::current());

// ---- arithmetic

/// For bool: logical or.
BYRE_API Tensor add(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor add_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// Throws DTypeError if both operands are bool. With another dtype, a bool counts as 0 or 1.
BYRE_API Tensor sub(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor sub_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// For bool: logical and.
BYRE_API Tensor mul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor mul_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// True division. Integers and bool are divided as f32.
BYRE_API Tensor div(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor div_(Tensor self, const Tensor& other, CallSite site = CallSite::current());

/// Throws DTypeError for bool.
BYRE_API Tensor neg(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor neg_(Tensor self, CallSite site = CallSite::current());
/// The larger of each element and 0; NaN stays NaN. Throws DTypeError for bool and complex.
BYRE_API Tensor relu(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor relu_(Tensor self, CallSite site = CallSite::current());
/// e to the power of each element; integers and bool are computed as f32. f32 and f64 results are
/// within 1 ulp. The last bit may differ between kinds of machines, but not between positions in a
/// tensor.
BYRE_API Tensor exp(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor exp_(Tensor self, CallSite site = CallSite::current());

// ---- comparison, to bool. Exact, even with an integer that is out of range of the tensor's dtype.

BYRE_API Tensor eq(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// Greater or equal. Throws DTypeError for complex, which has no order.
BYRE_API Tensor ge(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// Each element of `a` if that of `condition` is true, otherwise of `b`. Throws DTypeError if
/// `condition` is not bool.
BYRE_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
                      CallSite site = CallSite::current());

// ---- reductions

/// The sum of all elements, or the sums over `axes`, which the result lacks; with `keepdim` it has
/// them with size 1. With an empty list of axes, each element is its own sum. Integers and bool are
/// summed as i64, f16 and bf16 as float. Summation is pairwise, so that the rounding error grows
/// with the logarithm of the count. Throws ShapeError if an axis is out of range or named twice.
BYRE_API Tensor sum(const Tensor& a,
                    detail::ExplicitCallSite site = detail::ExplicitCallSite(CallSite::current()));
BYRE_API Tensor sum(const Tensor& a, const Dims& axes, bool keepdim = false,
                    CallSite site = CallSite::current());

/// The matrix product over the last two dimensions; the dimensions before them broadcast. A first
/// operand of one dimension is a row, a second operand of one dimension is a column; the result
/// lacks the dimension of size 1 that this adds. Throws ShapeError if the inner sizes differ or an
/// operand has no dimensions. Cost: O(rows * inner * columns) for each product.
BYRE_API Tensor matmul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());

/// The tensors concatenated along `axis`, in their promoted dtype. Throws ShapeError if `tensors`
/// is empty or sizes differ in another dimension.
BYRE_API Tensor cat(std::span<const Tensor> tensors, std::int64_t axis = 0,
                    CallSite site = CallSite::current());

inline Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
                  CallSite site = CallSite::current()) {
  return cat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, site);
}

// ---- other operations

/// A copy with the elements along each of `axes` in reverse order. The result cannot be a view,
/// because strides are never negative. Throws ShapeError if an axis is out of range or named twice.
BYRE_API Tensor flip(const Tensor& a, const Dims& axes, CallSite site = CallSite::current());

// ---- with a Scalar as an operand

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
/// The dtype is that of the number with the higher category: bool, i64, f32 or complex64.
inline Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b,
                    CallSite site = CallSite::current()) {
  const DType dtype = promoted(a.dtype_alone(), b.dtype_alone());
  return where(condition, a.to_tensor(dtype), b.to_tensor(dtype), site);
}

}  // namespace byre::inline v0
