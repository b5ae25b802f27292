// SPDX-License-Identifier: BSL-1.0
/// Operations on the elements of tensors, for every dtype and any strides: enough to write complete
/// programs. This header is not a numerics library: for fast kernels, write your own kernels on
/// data pointers.
///
/// Unless an operation says otherwise:
/// - Dtypes: operands are promoted to one dtype, and results are rounded, by the rules of
///   promotion.hpp. Integers wrap around on overflow.
/// - Sizes: operands *broadcast* by NumPy's rule: dimensions are counted from the last, and the two
///   sizes of a dimension must be equal, or one must be 1. A dimension of size 1 is repeated.
/// - Scalars: a Scalar may replace either operand of a binary operation. An integer out of range of
///   the dtype is rejected: see scalar.hpp.
/// - Results are new, contiguous tensors, regardless of the strides of the operands.
/// - Results do not depend on the floating-point environment of the caller. While elements are
///   computed, flush-to-zero, the rounding mode and traps have their default settings; afterwards
///   the settings of the caller are restored.
/// - An operation with a name that ends in _ writes the result to its first operand and does not
///   change the sizes and the dtype of that operand. The other operands must broadcast to these
///   sizes, and the category of the result (see promotion.hpp) must not be higher than that of this
///   dtype. Each other operand must consist of exactly the written elements, or must not overlap
///   them. An operand is also rejected if byre cannot decide whether it overlaps them. Lazy clones
///   of the written tensor do not change.
/// - Errors: an operation throws before it changes anything. It throws StateError if an operand is
///   an empty handle, or storage- or dtype-uninitialized; DeviceError if an operand is not on the
///   host (fill_, zero_ and copy_ accept any device); ShapeError if sizes do not fit or operands
///   overlap; DTypeError if the operation does not support a dtype; OutOfMemory if memory is
///   exhausted.
/// - Cost: O(n) in the number of elements. Reading an operand does not copy its storage.
/// - Thread-safety: an operation reads its operands and, if its name ends in _, writes the first,
///   by the rules of Tensor.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace byre::inline BYRE_ABI {

namespace detail {

/// A call site without an implicit conversion from a list in braces, so that sum(x, {0}) treats
/// the list as axes.
class ExplicitCallSite {
 public:
  constexpr explicit ExplicitCallSite(CallSite site) noexcept : site_(site) {}
  constexpr CallSite site() const noexcept { return site_; }

 private:
  CallSite site_;
};

}  // namespace detail

// ---- writing. Each operation returns `self`, another handle to the same tensor; `self` may be a
// temporary view. fill_, zero_ and copy_ allocate the memory of a storage-uninitialized tensor.

/// Sets all elements to `value`, converted to the dtype as by copy_. Throws DTypeError if `value`
/// is an integer out of range of an integral dtype.
BYRE_API Tensor fill_(Tensor self, const Scalar& value, CallSite site = CallSite::current());
/// fill_(self, 0).
BYRE_API Tensor zero_(Tensor self, CallSite site = CallSite::current());
/// Copies the elements of `source`, broadcast to the sizes of `self`, between any devices. If
/// `self` is dtype-uninitialized, it takes the dtype of `source`. Otherwise each element is
/// converted to the dtype of `self`, for any two dtypes, with equal results on every machine:
/// - floating-point to integer: truncated, then clamped to the range of the integer; NaN becomes 0;
/// - integer to integer: wrapped around;
/// - to a narrower floating-point dtype: rounded to nearest; infinite if out of range;
/// - complex to real: the real part;
/// - to bool: false if the value is 0, otherwise true.
BYRE_API Tensor copy_(Tensor self, const Tensor& source, CallSite site = CallSite::current());

// ---- arithmetic

/// a + b. For bool: logical or.
BYRE_API Tensor add(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor add_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// a - b. Throws DTypeError if both operands are bool. With an operand of another dtype, a bool
/// counts as 0 or 1.
BYRE_API Tensor sub(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor sub_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// a * b, element by element. For bool: logical and.
BYRE_API Tensor mul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor mul_(Tensor self, const Tensor& other, CallSite site = CallSite::current());
/// True division, a / b. Integers and bools are divided as f32.
BYRE_API Tensor div(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
BYRE_API Tensor div_(Tensor self, const Tensor& other, CallSite site = CallSite::current());

/// -a. Throws DTypeError if the dtype is bool.
BYRE_API Tensor neg(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor neg_(Tensor self, CallSite site = CallSite::current());
/// The larger of each element and 0; NaN stays NaN. Throws DTypeError if the dtype is bool or
/// complex.
BYRE_API Tensor relu(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor relu_(Tensor self, CallSite site = CallSite::current());
/// e to the power of each element. Integers and bools are computed as f32. Results of f32 and f64
/// are within 1 ulp (unit in the last place). The last bit may differ between kinds of machines,
/// but does not depend on the position in the tensor.
BYRE_API Tensor exp(const Tensor& a, CallSite site = CallSite::current());
BYRE_API Tensor exp_(Tensor self, CallSite site = CallSite::current());

// ---- comparisons; the results are bool. A comparison with a Scalar is exact, even if the Scalar
// is an integer that is out of range of the tensor's dtype.

/// True where the elements are equal.
BYRE_API Tensor eq(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// True where the element of `a` is greater than or equal to the element of `b`. Throws DTypeError
/// if the promoted dtype is complex, which has no order.
BYRE_API Tensor ge(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());
/// The element of `a` where `condition` is true, and the element of `b` where it is false. Throws
/// DTypeError if `condition` is not bool.
BYRE_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b,
                      CallSite site = CallSite::current());

// ---- reductions

/// The sum of all elements, or the sums over `axes`. The result lacks the dimensions in `axes`, or
/// has them with size 1 if `keepdim` is true. If `axes` is empty, each element is its own sum.
/// Integers and bools are summed as i64; f16 and bf16 are summed as f32, and the result is rounded
/// to their dtype. Summation is pairwise, so that the rounding error grows with the logarithm of
/// the count. Throws ShapeError if an axis is out of range or named twice.
BYRE_API Tensor sum(const Tensor& a,
                    detail::ExplicitCallSite site = detail::ExplicitCallSite(CallSite::current()));
BYRE_API Tensor sum(const Tensor& a, const Dims& axes, bool keepdim = false,
                    CallSite site = CallSite::current());

/// The matrix product over the last two dimensions; the dimensions before them broadcast. If `a`
/// has one dimension, it is treated as a row; if `b` has one dimension, it is treated as a column.
/// The result lacks the dimensions of size 1 that this treatment adds. Throws ShapeError if the
/// inner sizes differ or an operand has no dimensions. Cost: O(rows * inner * columns) for each
/// product of two matrices. Copies an operand if it is not contiguous, is bool, or has to be
/// converted.
BYRE_API Tensor matmul(const Tensor& a, const Tensor& b, CallSite site = CallSite::current());

/// The tensors concatenated along `axis`, in their promoted dtype. Throws ShapeError if `tensors`
/// is empty, `axis` is out of range, or the tensors differ in a size other than that of `axis`.
BYRE_API Tensor cat(std::span<const Tensor> tensors, std::int64_t axis = 0,
                    CallSite site = CallSite::current());

inline Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
                  CallSite site = CallSite::current()) {
  return cat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, site);
}

// ---- other operations

/// A copy with the elements along each of `axes` in reverse order. The result is not a view,
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
/// The dtype of the result is bool, i64, f32 or complex64: the dtype of the number with the higher
/// category.
inline Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b,
                    CallSite site = CallSite::current()) {
  const DType dtype = promoted(a.dtype_alone(), b.dtype_alone());
  return where(condition, a.to_tensor(dtype), b.to_tensor(dtype), site);
}

}  // namespace byre::inline BYRE_ABI
