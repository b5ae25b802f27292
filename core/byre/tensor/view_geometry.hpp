// SPDX-License-Identifier: BSL-1.0
/// ViewGeometry: which elements of a storage a view sees, and as what dtype: all there is to know
/// of a view but whose storage it is.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline v0 {

/// A value.
struct ViewGeometry {
  Layout layout;  ///< in elements of `dtype`
  DType dtype = DType::uninitialized;
  std::size_t storage_nbytes = 0;

  /// A contiguous tensor that fills its storage. Throws ShapeError.
  static ViewGeometry of_all(const Dims& sizes, DType dtype) {
    Layout layout = contiguous_layout(sizes, "view");
    const std::size_t nbytes = detail::byte_count(layout.numel(), byre::itemsize(dtype), "view");
    return {std::move(layout), dtype, nbytes};
  }
  /// The same storage under another layout.
  ViewGeometry with(Layout other) const { return {std::move(other), dtype, storage_nbytes}; }

  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout.numel()) * byre::itemsize(dtype);
  }
  /// False only if no two elements share memory.
  bool overlaps_itself() const noexcept { return may_overlap_itself(layout); }
  /// Whether the view sees every byte of the storage, each once.
  bool covers_storage() const noexcept { return nbytes() == storage_nbytes && !overlaps_itself(); }

  friend bool operator==(const ViewGeometry&, const ViewGeometry&) = default;
};

BYRE_API ViewGeometry geometry_of(const Tensor& tensor);

/// The view of the tensor's storage that has this geometry. Throws ShapeError for elements that the
/// storage does not have.
BYRE_API Tensor view_of(const Tensor& tensor, const ViewGeometry& geometry);

/// The tensor's elements, contiguous and filling a storage of their own: lazily, if they fill
/// theirs.
BYRE_API Tensor packed(const Tensor& tensor);

}  // namespace byre::inline v0
