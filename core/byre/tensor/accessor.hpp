// SPDX-License-Identifier: BSL-1.0
/// Accessor: the elements of a tensor by their indices, for loops of one's own: a pointer and N
/// strides, checked once when it is made. as_mdspan is the same where the standard library has
/// std::mdspan; elsewhere it is not declared.
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

namespace byre::inline v0 {

/// Of N dimensions, whose elements are a T, or a const T to read only. Valid as long as the pointer
/// it was made of: to read, until the tensor's storage is next written through another or its memory
/// given back; to write, until the storage is next lazily cloned as well, which what is written
/// afterwards would show in. It does not keep the tensor.
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
  /// In elements.
  std::int64_t stride(std::size_t axis) const noexcept { return strides_[axis]; }
  const std::array<std::int64_t, N>& sizes() const noexcept { return sizes_; }
  const std::array<std::int64_t, N>& strides() const noexcept { return strides_; }

  /// Indices from 0. Out of range: undefined, unless NDEBUG is not defined; Tensor::at checks always.
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
    BYRE_ASSERT(index >= 0 && index < sizes_[axis], "an accessor was used out of its range");
#endif
    return index;
  }

  T* first_;
  std::array<std::int64_t, N> sizes_;
  std::array<std::int64_t, N> strides_;
};

namespace detail {

/// Throws DeviceError off the host, ShapeError for a tensor that is not of `ndim` dimensions.
BYRE_API void expect_accessible(const Tensor& tensor, std::size_t ndim, const char* operation);
/// Throws DTypeError for a tensor that has another dtype than the one to be written.
BYRE_API void expect_dtype_or_none(const Tensor& tensor, DType dtype, const char* operation);
/// Strides that std::layout_stride takes for these sizes: none is 0, whatever a view has where nobody
/// steps, and sorted, each is the stride before it by its size or more. Throws ShapeError if there
/// are none, as of elements that share memory.
BYRE_API Dims strides_for_mdspan(const Layout& layout, const char* operation);

}  // namespace detail

/// To read. Throws DTypeError if T is not the dtype, StateError without memory, DeviceError off the
/// host, ShapeError if N is not ndim().
template <Element T, std::size_t N>
inline Accessor<const T, N> accessor(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "accessor");
  return {tensor.data<T>(site), tensor.layout()};
}

/// To write: realizes and materializes, as mutable_data, but never as another dtype than there is
/// already. Throws as accessor(), and OutOfMemory.
template <Element T, std::size_t N>
inline Accessor<T, N> mutable_accessor(Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_accessible(tensor, N, "mutable_accessor");
  detail::expect_dtype_or_none(tensor, dtype_of<T>, "mutable_accessor");
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

/// As accessor() and mutable_accessor(). Throws ShapeError also for what std::layout_stride cannot
/// say: elements that share memory, as expand makes them, or that interleave.
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

}  // namespace byre::inline v0
