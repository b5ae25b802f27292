// SPDX-License-Identifier: BSL-1.0
/// ViewGeometry: the layout and dtype of a view and the size of its storage, without the storage
/// itself. Code that applies recorded views to another storage records a ViewGeometry of each view.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline BYRE_ABI {

/// A plain value. Thread-safety: as an int. A member that returns a ViewGeometry throws OutOfMemory
/// if there are more than five dimensions and memory is exhausted.
struct ViewGeometry {
  Layout layout;  ///< in elements of `dtype`
  DType dtype = DType::uninitialized;
  std::size_t storage_nbytes = 0;

  /// The geometry of a contiguous tensor that fills its storage. Throws ShapeError if a size is
  /// negative, there are more than max_ndim sizes, or the elements have more bytes than an object
  /// can have.
  static ViewGeometry of_all(const Dims& sizes, DType dtype) {
    Layout layout = contiguous_layout(sizes, "view");
    const std::size_t nbytes = detail::byte_count(layout.numel(), byre::itemsize(dtype), "view");
    return {std::move(layout), dtype, nbytes};
  }
  /// The geometry of another layout in this storage, with this dtype.
  ViewGeometry with(Layout other) const { return {std::move(other), dtype, storage_nbytes}; }

  std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(layout.numel()) * byre::itemsize(dtype);
  }
  /// True if two elements may share memory; see may_overlap_itself().
  bool overlaps_itself() const noexcept { return may_overlap_itself(layout); }
  /// True if the view contains every byte of the storage exactly once.
  bool covers_storage() const noexcept { return nbytes() == storage_nbytes && !overlaps_itself(); }

  friend bool operator==(const ViewGeometry&, const ViewGeometry&) = default;
};

/// The geometry of a tensor. Throws StateError if the handle is empty, or OutOfMemory.
BYRE_API ViewGeometry geometry_of(const Tensor& tensor);

/// A view of the tensor's storage with this geometry. Throws ShapeError if an element is outside of
/// the storage, StateError if the handle is empty, and the errors of Tensor::as_strided() and
/// Tensor::view(DType). Copies no elements.
BYRE_API Tensor view_of(const Tensor& tensor, const ViewGeometry& geometry);

/// A contiguous clone that fills its storage: a lazy clone if `tensor` is contiguous and fills its
/// own storage, otherwise a copy, made immediately. Throws StateError if the handle is empty, and
/// the errors of Tensor::clone().
BYRE_API Tensor packed(const Tensor& tensor);

}  // namespace byre::inline BYRE_ABI
