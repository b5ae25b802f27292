// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as a std::span, and as a std::mdspan where the standard library has one. Access is as
/// by data() and mutable_data(): to read never copies, and to write materializes.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace byre::inline v0 {

namespace detail {

/// Throws StateError for no tensor, DeviceError off the host, ShapeError for a tensor that is not contiguous.
BYRE_API void expect_span(const Tensor& tensor, const char* call);
/// The same of so many dimensions, and of any strides.
BYRE_API void expect_mdspan(const Tensor& tensor, std::size_t rank, const char* call);

}  // namespace detail

/// All elements of a contiguous tensor on the host, in row-major order; valid as long as a pointer of data() is.
/// Throws as that, and ShapeError for a tensor that is not contiguous, DeviceError off the host.
template <Element T>
std::span<const T> as_span(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_span");
  return {tensor.data<T>(site), static_cast<std::size_t>(tensor.numel())};
}
/// The same to write; valid as long as a pointer of mutable_data() is.
template <Element T>
std::span<T> as_mutable_span(Tensor& tensor, Wait wait = Wait::allowed,
                             CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_mutable_span");
  return {tensor.mutable_data<T>(wait, site), static_cast<std::size_t>(tensor.numel())};
}

#if defined(__cpp_lib_mdspan)

template <class T, std::size_t Rank>
using StridedMdspan = std::mdspan<T, std::dextents<std::int64_t, Rank>, std::layout_stride>;

namespace detail {

template <class T, std::size_t Rank>
StridedMdspan<T, Rank> mdspan_of(const Tensor& tensor, T* data) {
  std::array<std::int64_t, Rank> sizes{};
  std::array<std::int64_t, Rank> strides{};
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    sizes[axis] = tensor.sizes()[axis];
    strides[axis] = tensor.strides()[axis];
  }
  return {data, {std::dextents<std::int64_t, Rank>(sizes), strides}};
}

}  // namespace detail

/// The elements of a tensor of `Rank` dimensions and any strides, on the host. Throws as as_span(), and ShapeError for
/// another number of dimensions.
template <Element T, std::size_t Rank>
StridedMdspan<const T, Rank> as_mdspan(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_mdspan(tensor, Rank, "as_mdspan");
  return detail::mdspan_of<const T, Rank>(tensor, tensor.data<T>(site));
}
template <Element T, std::size_t Rank>
StridedMdspan<T, Rank> as_mutable_mdspan(Tensor& tensor, Wait wait = Wait::allowed,
                                         CallSite site = CallSite::current()) {
  detail::expect_mdspan(tensor, Rank, "as_mutable_mdspan");
  return detail::mdspan_of<T, Rank>(tensor, tensor.mutable_data<T>(wait, site));
}

#endif

}  // namespace byre::inline v0
