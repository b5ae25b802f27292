// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as a std::span. Access is as by data() and mutable_data(): to read never copies, and to
/// write materializes. tensor/accessor.hpp has as_mdspan.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline v0 {

namespace detail {

/// Throws StateError for no tensor, DeviceError off the host, ShapeError for a tensor that is not contiguous.
BYRE_API void expect_span(const Tensor& tensor, const char* call);

}  // namespace detail

/// All elements of a contiguous tensor on the host, in row-major order; valid as long as a pointer of data() is.
/// Throws as that, and ShapeError for a tensor that is not contiguous, DeviceError off the host.
template <Element T>
inline std::span<const T> as_span(const Tensor& tensor, CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_span");
  return {tensor.data<T>(site), static_cast<std::size_t>(tensor.numel())};
}
/// The same to write; valid as long as a pointer of mutable_data() is.
template <Element T>
inline std::span<T> as_mutable_span(Tensor& tensor, Wait wait = Wait::allowed,
                                    CallSite site = CallSite::current()) {
  detail::expect_span(tensor, "as_mutable_span");
  return {tensor.mutable_data<T>(wait, site), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace byre::inline v0
