// SPDX-License-Identifier: BSL-1.0
/// Operations on elements: enough to write a program with, for every dtype and any strides. Not a
/// numerics library: where the speed of kernels matters, bring your own through the data pointers.
///
/// Operands are promoted to one dtype (promotion.hpp) and broadcast by NumPy's rule. A number may
/// stand in for either operand, and is refused where it does not fit: see Scalar. f16 and bf16 are computed as float and rounded once;
/// integers wrap around.
///
/// A name that ends in _ writes its first operand, which keeps its sizes and dtype: the others
/// broadcast to it, and the result's category may not be higher. An operand may be the very tensor
/// that is written, or have no element in common with it; one that overlaps it in part, or may, is
/// refused. Lazy clones of what is written never change.
///
/// All throw before anything changed: StateError for an uninitialized operand; DeviceError off the
/// host, but for fill_, zero_ and copy_; ShapeError for sizes that do not fit and for overlap;
/// DTypeError for dtypes that an operation has no meaning for; OutOfMemory.
#pragma once

#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace byre::inline v0 {

// ---- writing: these give memory to a storage-uninitialized tensor

/// Needs a dtype: converts the value to it, as copy_ does, but for an integer that an integral dtype
/// has not: throws DTypeError.
Tensor& fill_(Tensor& self, const Scalar& value);
Tensor& zero_(Tensor& self);
/// Converts and broadcasts, between any devices. A dtype-uninitialized tensor takes the source's
/// dtype. Any dtype becomes any other: floating-point numbers are truncated to integers, saturating,
/// with 0 for not a number; integers wrap around; complex numbers lose their imaginary part; what is
/// not 0 is true.
Tensor& copy_(Tensor& self, const Tensor& source);

// ---- arithmetic

/// Of bool: or.
Tensor add(const Tensor& a, const Tensor& b);
Tensor& add_(Tensor& self, const Tensor& other);
/// Not of bool.
Tensor sub(const Tensor& a, const Tensor& b);
Tensor& sub_(Tensor& self, const Tensor& other);
/// Of bool: and.
Tensor mul(const Tensor& a, const Tensor& b);
Tensor& mul_(Tensor& self, const Tensor& other);
/// True division: of integers and bool as f32.
Tensor div(const Tensor& a, const Tensor& b);
Tensor& div_(Tensor& self, const Tensor& other);

/// Not of bool.
Tensor neg(const Tensor& a);
Tensor& neg_(Tensor& self);
/// The greater of each element and 0; not a number stays so. Not of bool and complex.
Tensor relu(const Tensor& a);
Tensor& relu_(Tensor& self);
/// Of integers and bool as f32.
Tensor exp(const Tensor& a);
Tensor& exp_(Tensor& self);

// ---- comparison, to bool; exact also for an integer that the tensor's integral dtype has not

Tensor eq(const Tensor& a, const Tensor& b);
/// Not of complex, which have no order.
Tensor ge(const Tensor& a, const Tensor& b);
/// Elements of `a` where `condition`, of bool, is true, else of `b`.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

// ---- of many elements one

/// Of all elements, or over `axes`, which go, or stay as 1; over no axes, each element. Integers and
/// bool are summed as i64, the halves as float. In pairs, so that the error grows with the logarithm
/// of the count. Throws ShapeError for an axis that is not there or named twice.
Tensor sum(const Tensor& a);
Tensor sum(const Tensor& a, const Dims& axes, bool keepdim = false);

/// The matrix product of the last two dimensions; those before broadcast. A first operand of one
/// dimension is a row and a second one a column, whose dimension of 1 the result does not have.
/// Throws ShapeError also for an operand of no dimensions.
Tensor matmul(const Tensor& a, const Tensor& b);

/// The tensors behind each other along `axis`, as their promoted dtype. Throws ShapeError for no
/// tensors, and where sizes differ in another dimension.
Tensor cat(std::span<const Tensor> tensors, std::int64_t axis = 0);

inline Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0) {
  return cat(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}

// ---- with a number for a tensor

inline Tensor add(const Tensor& a, const Scalar& b) {
  return add(a, b.beside(a, "add"));
}
inline Tensor add(const Scalar& a, const Tensor& b) {
  return add(a.beside(b, "add"), b);
}
inline Tensor& add_(Tensor& self, const Scalar& b) {
  return add_(self, b.beside(self, "add_"));
}
inline Tensor sub(const Tensor& a, const Scalar& b) {
  return sub(a, b.beside(a, "sub"));
}
inline Tensor sub(const Scalar& a, const Tensor& b) {
  return sub(a.beside(b, "sub"), b);
}
inline Tensor& sub_(Tensor& self, const Scalar& b) {
  return sub_(self, b.beside(self, "sub_"));
}
inline Tensor mul(const Tensor& a, const Scalar& b) {
  return mul(a, b.beside(a, "mul"));
}
inline Tensor mul(const Scalar& a, const Tensor& b) {
  return mul(a.beside(b, "mul"), b);
}
inline Tensor& mul_(Tensor& self, const Scalar& b) {
  return mul_(self, b.beside(self, "mul_"));
}
inline Tensor div(const Tensor& a, const Scalar& b) {
  return div(a, b.beside(a, "div"));
}
inline Tensor div(const Scalar& a, const Tensor& b) {
  return div(a.beside(b, "div"), b);
}
inline Tensor& div_(Tensor& self, const Scalar& b) {
  return div_(self, b.beside(self, "div_"));
}
inline Tensor eq(const Tensor& a, const Scalar& b) {
  return eq(a, b.compared_with(a, "eq"));
}
inline Tensor eq(const Scalar& a, const Tensor& b) {
  return eq(a.compared_with(b, "eq"), b);
}
inline Tensor ge(const Tensor& a, const Scalar& b) {
  return ge(a, b.compared_with(a, "ge"));
}
inline Tensor ge(const Scalar& a, const Tensor& b) {
  return ge(a.compared_with(b, "ge"), b);
}
inline Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  return where(condition, a, b.beside(a, "where"));
}
inline Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  return where(condition, a.beside(b, "where"), b);
}
/// Of the higher category of the two numbers: bool, i64, f32 or complex64.
inline Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b) {
  const DType dtype = promoted(a.dtype_alone(), b.dtype_alone());
  return where(condition, a.to_tensor(dtype), b.to_tensor(dtype));
}

}  // namespace byre::inline v0
