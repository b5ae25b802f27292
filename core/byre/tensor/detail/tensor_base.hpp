// SPDX-License-Identifier: BSL-1.0
/// TensorBase: the counted object behind a Tensor: one view of a storage. It holds the metadata;
/// Tensor has the operations.
#pragma once

#include <byre/config.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <utility>

namespace byre::inline v0 {

/// Source: the seed "TensorBase".
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
  /// Of the same storage, elements and family as `of`, as `make_layout()` sees them.
  template <class MakeLayout>
  TensorBase(const TensorBase& source, const MakeLayout& make_layout)
      : layout(make_layout()),
        storage(source.storage),
        shadow(source.shadow),
        allocator(source.allocator),
        device(source.device),
        dtype(source.dtype) {}
  /// Of the same elements in what `make_storage()` makes once there is a layout.
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

  /// From the thread's cache of small blocks, as views come and go. Null if there is no memory.
  static void* operator new(std::size_t nbytes) noexcept;
  static void operator delete(void* place) noexcept;

  /// Of the storage, before the first element.
  std::size_t byte_offset() const noexcept {
    return static_cast<std::size_t>(layout.offset) * itemsize(dtype);
  }
  /// True only if there are a storage and a dtype, which is the wanted one.
  bool has_memory_of(DType wanted) const noexcept {
    return wanted == dtype && wanted != DType::uninitialized && bool(storage);
  }
  /// Null without memory.
  const std::byte* first_element() const noexcept {
    const std::byte* const first = storage.data();
    return first == nullptr ? nullptr : first + byte_offset();
  }

  Layout layout;  ///< in elements of `dtype`
  Storage storage;
  shadow::ShadowHandle shadow;  ///< null for the storage's default one
  /// Where the next memory comes from once there is no storage to say it; null for the device's.
  Allocator* allocator;
  Device device;
  DType dtype;
  basic_ref_count<sync::Boost> handles;  ///< of which a new one has one

  friend void intrusive_ptr_add_ref(TensorBase* base) noexcept { base->handles.add(); }
  friend void intrusive_ptr_release(TensorBase* base) noexcept {
    if (base->handles.drop()) {
      delete base;
    }
  }
};

}  // namespace byre::inline v0
