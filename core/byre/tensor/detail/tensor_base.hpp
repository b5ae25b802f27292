// SPDX-License-Identifier: BSL-1.0
/// TensorBase: the reference-counted object that Tensor handles refer to. It stores the layout,
/// dtype, device and storage of one tensor; class Tensor implements the operations.
#pragma once

#include <byre/config.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline BYRE_ABI {

/// Source: the design note "TensorBase".
struct BYRE_API TensorBase {
  TensorBase(Storage&& storage_of_view, Layout&& layout_of_view, DType dtype_of_elements,
             Device device_of_storage, Allocator* next_memory,
             shadow::ShadowHandle&& family) noexcept
      : layout(std::move(layout_of_view)),
        storage(std::move(storage_of_view)),
        shadow(std::move(family)),
        allocator(next_memory),
        device(device_of_storage),
        dtype(dtype_of_elements) {}
  /// A view of `source` with the layout that `make_layout()` returns.
  template <class MakeLayout>
  TensorBase(const TensorBase& source, const MakeLayout& make_layout)
      : layout(make_layout()),
        storage(source.storage),
        shadow(source.shadow),
        allocator(source.allocator),
        device(source.device),
        dtype(source.dtype) {}
  /// A tensor like `source`, but with the layout that `make_layout()` returns and the storage that
  /// `make_storage()` returns. Calls `make_layout()` first.
  template <class MakeLayout, class MakeStorage>
  TensorBase(const TensorBase& source, const MakeLayout& make_layout,
             const MakeStorage& make_storage)
      : layout(make_layout()),
        storage(make_storage()),
        allocator(source.allocator),
        device(source.device),
        dtype(source.dtype) {}
  TensorBase(const TensorBase&) = delete;
  TensorBase& operator=(const TensorBase&) = delete;

  /// Takes a block from the thread's cache of small blocks, because views are created and destroyed
  /// often. Returns null if memory is exhausted.
  static void* operator new(std::size_t nbytes) noexcept;
  static void operator delete(void* place) noexcept;

  /// The offset, in the storage, of the tensor's first element, in bytes.
  std::size_t byte_offset() const noexcept {
    return static_cast<std::size_t>(layout.offset) * itemsize(dtype);
  }
  /// True if the tensor has memory and a dtype, and the dtype is `wanted`.
  bool has_memory_of(DType wanted) const noexcept {
    return wanted == dtype && wanted != DType::uninitialized && bool(storage);
  }
  /// Null if the tensor has no memory.
  const std::byte* first_element() const noexcept {
    const std::byte* const first = storage.data();
    return first == nullptr ? nullptr : first + byte_offset();
  }

  Layout layout;  ///< in elements of `dtype`
  Storage storage;
  shadow::ShadowHandle shadow;  ///< the view family; null for the storage's default family
  /// Used only while there is no storage: allocates the next storage. Null means the device's
  /// allocator.
  Allocator* allocator;
  Device device;
  DType dtype;
  basic_ref_count<sync::Default> handles;  ///< the number of handles to this tensor; starts at 1

  friend void intrusive_ptr_add_ref(TensorBase* base) noexcept { base->handles.add(); }
  friend void intrusive_ptr_release(TensorBase* base) noexcept {
    if (base->handles.drop()) {
      delete base;
    }
  }
};

}  // namespace byre::inline BYRE_ABI
