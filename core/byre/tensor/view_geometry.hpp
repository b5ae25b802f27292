// SPDX-License-Identifier: BSL-1.0
/// ViewGeometry: the layout and dtype of a view and the size of its storage, without the storage
/// itself. Code that replays views on another storage records it.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline v0 {

/// A plain value. Thread-safety: as an int.
struct ViewGeometry {
  Layout layout;  ///< in elements of `dtype`
  DType dtype = DType::uninitialized;
  std::size_t storage_nbytes = 0;

  /// The geometry of a contiguous tensor that fills its storage. Throws ShapeError.
  static ViewGeometry of_all(const Dims& sizes, DType dtype) {
    Layout layout = contiguous_layout(sizes, "view");
    const std::size_t nbytes = detail::byte_count(layout.numel(), byre::itemsize(dtype), "view");
    return {std::move(layout), dtype, nbytes};
  }
  /// This storage with another layout.
  ViewGeometry with(Layout other) const { return {std::move(other), dtype, storage_nbytes}; }

  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout.numel()) * byre::itemsize(dtype);
  }
  /// Whether two elements may share memory; see may_overlap_itself().
  bool overlaps_itself() const noexcept { return may_overlap_itself(layout); }
  /// Whether the view has every byte of the storage exactly once.
  bool covers_storage() const noexcept { return nbytes() == storage_nbytes && !overlaps_itself(); }

  friend bool operator==(const ViewGeometry&, const ViewGeometry&) = default;
};

/// Throws StateError for an empty handle, OutOfMemory.
BYRE_API ViewGeometry geometry_of(const Tensor& tensor);

/// A view of the tensor's storage with this geometry. Throws ShapeError if an element is outside of
/// the storage, and as Tensor::as_strided() and Tensor::view(DType). Copies no elements.
BYRE_API Tensor view_of(const Tensor& tensor, const ViewGeometry& geometry);

/// A contiguous clone that fills its storage: lazy if `tensor` is contiguous and fills its storage,
/// otherwise copied at once. Throws as Tensor::clone().
BYRE_API Tensor packed(const Tensor& tensor);

}  // namespace byre::inline v0
