// SPDX-License-Identifier: BSL-1.0
/// Accessor: a pointer with N sizes and strides, to index the elements of a tensor in loops.
/// accessor() and mutable_accessor() check the dtype, the dimensions and the device once and return
/// an Accessor.
///
/// as_mdspan() and as_mutable_mdspan() return a std::mdspan instead. They are declared only if the
/// standard library has std::mdspan.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <algorithm>
#include <mdspan>
#endif

namespace byre::inline BYRE_ABI {

/// The elements of a tensor with N dimensions: an Accessor<T, N> reads and writes them, an
/// Accessor<const T, N> only reads them. An accessor does not own the tensor. It is valid as long
/// as a pointer to the elements is valid (see Tensor):
/// - for reading, until the tensor's storage is next written through another pointer or its memory
///   is released;
/// - for writing, also no longer than until the storage is next lazily cloned: a later write would
///   change the clone.
///
/// Thread-safety: as a pointer. No member throws or copies elements.
template <class T, std::size_t N>
class Accessor {
 public:
  Accessor(T* first, const Layout& layout) noexcept : first_(first) {
    for (std::size_t axis = 0; axis < N; ++axis) {
      sizes_[axis] = layout.sizes[axis];
      strides_[axis] = layout.strides[axis];
    }
  }

  T* data() const noexcept { return first_; }
  std::int64_t size(std::size_t axis) const noexcept { return sizes_[axis]; }
  /// In elements, not bytes.
  std::int64_t stride(std::size_t axis) const noexcept { return strides_[axis]; }
  const std::array<std::int64_t, N>& sizes() const noexcept { return sizes_; }
  const std::array<std::int64_t, N>& strides() const noexcept { return strides_; }

  /// The element at these indices, counted from 0. Requires that each index is in range. An index
  /// out of range aborts the program if NDEBUG is not defined; otherwise the behavior is undefined.
  /// Tensor::at() always checks its indices.
  template <std::integral... Index>
  requires(sizeof...(Index) == N) T& operator()(Index... indices) const noexcept {
    std::int64_t element = 0;
    std::size_t axis = 0;
    ((element += checked(static_cast<std::int64_t>(indices), axis) * strides_[axis], ++axis), ...);
    return first_[element];
  }

 private:
  std::int64_t checked(std::int64_t index, [[maybe_unused]] std::size_t axis) const noexcept {
#if !defined(NDEBUG)
    BYRE_ASSERT(index >= 0 && index < sizes_[axis], "accessor index out of range");
#endif
    return index;
  }

  T* first_;
  std::array<std::int64_t, N> sizes_;
  std::array<std::int64_t, N> strides_;
};

namespace detail {

/// Throws StateError if the handle is empty, DeviceError if the tensor is not on the host,
/// ShapeError if it does not have `ndim` dimensions.
BYRE_API void expect_accessible(const Tensor& tensor, std::size_t ndim, const char* operation);
/// Throws DTypeError if the tensor has a dtype other than `dtype`.
BYRE_API void expect_dtype_if_initialized(const Tensor& tensor, DType dtype, const char* operation);
/// Strides of `layout` that satisfy the preconditions of std::layout_stride: no stride is 0, and in
/// ascending order each stride is at least the previous stride times its size. The stride of a
/// dimension of one element becomes 1. Throws ShapeError if the strides violate these
/// preconditions, for example because elements share memory.
BYRE_API Dims strides_for_mdspan(const Layout& layout, const char* operation);

}  // namespace detail

/// An accessor for reading. Throws DTypeError if T is not the C++ type of the dtype, StateError if
/// the handle is empty or the tensor is storage- or dtype-uninitialized, DeviceError if the tensor
/// is not on the host, ShapeError if N is not ndim(). Copies nothing.
template <Element T, std::size_t N>
inline Accessor<const T, N> accessor(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "accessor");
  return {tensor.data<T>(site), tensor.layout()};
}

/// An accessor for writing. Calls Tensor::mutable_data(), which allocates missing memory and copies
/// data that lazy clones share. Sets the dtype of a dtype-uninitialized tensor to that of T, but
/// never changes a dtype. Throws DTypeError, DeviceError and ShapeError under the conditions of
/// accessor(), StateError if the handle is empty, and OutOfMemory.
template <Element T, std::size_t N>
inline Accessor<T, N> mutable_accessor(Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "mutable_accessor");
  detail::expect_dtype_if_initialized(tensor, dtype_of<T>, "mutable_accessor");
  T* const first = tensor.mutable_data<T>(Wait::allowed, site);
  return {first, tensor.layout()};
}

#if defined(__cpp_lib_mdspan)

template <class T, std::size_t N>
using Mdspan = std::mdspan<T, std::dextents<std::int64_t, N>, std::layout_stride>;

namespace detail {

template <class T, std::size_t N>
inline Mdspan<T, N> mdspan_of(const Accessor<T, N>& elements, const Dims& strides_of_all) {
  std::array<std::int64_t, N> strides{};
  std::copy_n(strides_of_all.begin(), N, strides.begin());
  const std::dextents<std::int64_t, N> extents(elements.sizes());
  return {elements.data(), std::layout_stride::mapping(extents, strides)};
}

}  // namespace detail

/// Like accessor() and mutable_accessor(). Both also throw ShapeError if std::layout_stride cannot
/// express the strides: if elements share memory (for example, after expand()) or interleave.
template <Element T, std::size_t N>
inline Mdspan<const T, N> as_mdspan(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "as_mdspan");
  const Dims strides = detail::strides_for_mdspan(tensor.layout(), "as_mdspan");
  return detail::mdspan_of(accessor<T, N>(tensor, site), strides);
}
template <Element T, std::size_t N>
inline Mdspan<T, N> as_mutable_mdspan(Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "as_mutable_mdspan");
  const Dims strides = detail::strides_for_mdspan(tensor.layout(), "as_mutable_mdspan");
  return detail::mdspan_of(mutable_accessor<T, N>(tensor, site), strides);
}

#endif

}  // namespace byre::inline BYRE_ABI
