// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as a std::span. The functions access the tensor like data() and
/// mutable_data(): reading never copies, and writing materializes. For std::mdspan see
/// tensor/accessor.hpp.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline BYRE_ABI {

namespace detail {

/// Throws StateError for an empty handle, DeviceError if the tensor is on a device, ShapeError if
/// it is not contiguous.
BYRE_API void expect_span(const Tensor& tensor, const char* call);

}  // namespace detail

/// All elements in row-major order. The span is valid as long as a pointer from data(). Throws
/// ShapeError if the tensor is not contiguous, DeviceError if it is on a device, or the errors of
/// data(). Thread-safety and cost are those of data().
template <Element T>
inline std::span<const T> as_span(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_span");
  return {tensor.data<T>(site), static_cast<std::size_t>(tensor.numel())};
}
/// As as_span(), but for writing: the lifetime of the span, further errors, cost and thread-safety
/// are those of mutable_data().
template <Element T>
inline std::span<T> as_mutable_span(Tensor& tensor, Wait wait = Wait::allowed,
                                    CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_mutable_span");
  return {tensor.mutable_data<T>(wait, site), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace byre::inline BYRE_ABI
