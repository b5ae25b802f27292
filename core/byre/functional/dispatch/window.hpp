// SPDX-License-Identifier: BSL-1.0
/// Window: which elements of a base a view sees, and as what: all there is to know of a view.
#pragma once

#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>

namespace byre::inline v0::functional {

/// The base is contiguous, from the first byte of a storage that it fills. A value.
struct Window {
  Layout layout;  ///< in elements of `dtype`
  DType dtype = DType::uninitialized;
  std::size_t storage_nbytes = 0;

  /// All of a tensor. Throws ShapeError.
  static Window of_all(const Dims& sizes, DType dtype) {
    Layout layout = contiguous_layout(sizes, "view");
    const std::size_t nbytes =
        byre::detail::byte_count(layout.numel(), byre::itemsize(dtype), "view");
    return {std::move(layout), dtype, nbytes};
  }
  /// The same elements of the same dtype somewhere else.
  Window with(Layout other) const { return {std::move(other), dtype, storage_nbytes}; }

  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout.numel()) * byre::itemsize(dtype);
  }
  /// Some element of the base is seen twice, or that is in doubt.
  bool overlaps_itself() const noexcept { return may_overlap_itself(layout); }
  /// Every byte of the base is seen, once.
  bool covers_base() const noexcept { return nbytes() == storage_nbytes && !overlaps_itself(); }

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace byre::inline v0::functional
