// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/dlpack.hpp>
#include <byre/interop/dlpack.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/views.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;

/// Releases another library's tensor.
struct Release {
  template <class Managed>
  void operator()(Managed* managed) const {
    if (managed->deleter != nullptr) {
      managed->deleter(managed);
    }
  }
};

/// The positions of a tensor's elements, relative to the first element.
struct Elements {
  Layout layout;
  std::size_t nbytes;  ///< up to the end of the last element; 0 if there are no elements
};

Dims sizes_of(const DLTensor& tensor) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    throw ShapeError(
        format_text("from_dlpack: ndim is %d%s. Export an ndim of at least 0, and ndim sizes.",
                    tensor.ndim, tensor.ndim > 0 ? " and shape is null" : ""));
  }
  detail::expect_ndim(static_cast<std::size_t>(tensor.ndim), "from_dlpack");
  return {tensor.shape, tensor.shape + tensor.ndim};
}

[[noreturn]] void refuse_extent(const Dims& sizes, std::size_t itemsize) {
  throw ShapeError(format_text(
      "from_dlpack: sizes %.200s with these strides, in elements of %zu bytes, exceed the "
      "largest object. Make the tensor contiguous first.",
      to_string(sizes).c_str(), itemsize));
}

/// The strides of dimensions of size 1 are meaningless and may be negative, so this function
/// replaces them.
Dims strides_of(const DLTensor& tensor, const Layout& contiguous) {
  if (tensor.strides == nullptr || contiguous.numel() == 0) {
    return contiguous.strides;
  }
  Dims strides(tensor.strides, tensor.strides + tensor.ndim);
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    if (contiguous.sizes[axis] == 1) {
      strides[axis] = contiguous.strides[axis];
    } else if (strides[axis] < 0) {
      throw ShapeError(
          format_text("from_dlpack: the stride of dimension %zu is %lld, required at least 0. Make "
                      "the tensor contiguous first, which copies it.",
                      axis, static_cast<long long>(strides[axis])));
    }
  }
  return strides;
}

Elements elements_of(const DLTensor& tensor, std::size_t itemsize) {
  const Dims sizes = sizes_of(tensor);
  Layout layout = contiguous_layout(sizes, "from_dlpack");
  layout.strides = strides_of(tensor, layout);
  if (layout.numel() == 0) {
    return {layout, 0};
  }
  try {
    layout = views::as_strided(sizes, layout.strides, 0,
                               static_cast<std::int64_t>(max_nbytes / itemsize));
  } catch (const ShapeError&) {
    refuse_extent(sizes, itemsize);
  }
  return {layout, static_cast<std::size_t>(layout.end()) * itemsize};
}

/// Reads only the elements: bytes between them may belong to other code.
void expect_bools(const Layout& layout, const std::byte* first) {
  Dims index(layout.ndim());
  for (std::int64_t left = layout.numel(); left > 0; --left) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      at += index[axis] * layout.strides[axis];
    }
    if (const auto byte = std::to_integer<int>(first[at]); byte > 1) {
      throw DTypeError(
          format_text("from_dlpack: the bool at %.200s is the byte %d, required 0 or 1. Export the "
                      "bytes as u8.",
                      to_string(index).c_str(), byte));
    }
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == layout.sizes[axis];) {
      index[axis] = 0;
    }
  }
}

struct ImportSource {
  bool is_read_only = false;
  bool is_exclusive = false;
  detail::ExportedBytes* byre_export = nullptr;  ///< the pin of the memory, if byre exported it
};

/// The storage that byre exported, and the offset of the elements in it.
struct ReusedStorage {
  Storage storage;
  std::int64_t offset = 0;
};

/// Empty if the tensor needs a new storage: another library exported the memory or set its
/// read-only flag, the elements are not within the exported bytes or not aligned to them, or
/// PinAccess requires a new storage.
ReusedStorage storage_to_reuse(const std::byte* first, std::size_t nbytes, std::size_t itemsize,
                               ImportSource found) {
  if (found.byre_export == nullptr) {
    return {};
  }
  Pin& pin = found.byre_export->pin;
  if (found.is_read_only && pin.is_writable()) {
    return {};  // another library set the read-only flag
  }
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(first) - reinterpret_cast<std::uintptr_t>(pin.data());
  if (offset > pin.nbytes() || nbytes > pin.nbytes() - offset || offset % itemsize != 0) {
    return {};
  }
  return {detail::PinAccess::to_storage(pin, found.is_exclusive),
          static_cast<std::int64_t>(offset / itemsize)};
}

template <class Owner>
Storage adopt(void* data, std::size_t nbytes, ImportSource found, Owner owner,
              Allocator& allocator) {
  auto release = [held = std::move(owner)](void*) {};
  return Storage(Buffer::adopt(Foreign<decltype(release)&>{.data = data,
                                                           .nbytes = nbytes,
                                                           .deleter = release,
                                                           .may_write = !found.is_read_only,
                                                           .others_write = !found.is_exclusive},
                               allocator));
}

template <class Owner>
Tensor imported(const DLTensor& tensor, ImportSource found, Owner owner) try {
  const Device device = detail::device_of(tensor.device);
  const DType dtype = detail::dtype_of_dlpack(tensor.dtype);
  const Elements elements = elements_of(tensor, itemsize(dtype));
  if (elements.nbytes == 0) {
    return Tensor::empty(elements.layout.sizes, dtype, device);
  }
  if (tensor.data == nullptr) {
    throw InvalidArgument(format_text(
        "from_dlpack: the data pointer for %zu bytes is null. Export a tensor with memory.",
        elements.nbytes));
  }
  auto* const first = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  detail::expect_aligned(first, dtype, device, "from_dlpack");
  if (dtype == DType::boolean && device.is_cpu()) {
    expect_bools(elements.layout, first);
  }
  ReusedStorage own = storage_to_reuse(first, elements.nbytes, itemsize(dtype), found);
  if (!own.storage) {
    own = {adopt(first, elements.nbytes, found, std::move(owner), support_of(device).allocator())};
  }
  return Tensor::over(std::move(own.storage), {0}, dtype)
      .as_strided(elements.layout.sizes, elements.layout.strides, own.offset);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("from_dlpack");
}

void expect_managed(const void* managed) {
  if (managed == nullptr) {
    throw InvalidArgument(format_text(
        "from_dlpack: the argument is null. Pass a tensor that another library exported."));
  }
}

}  // namespace

Tensor from_dlpack(DLManagedTensorVersioned* managed, DLPackImport how) {
  expect_managed(managed);
  std::unique_ptr<DLManagedTensorVersioned, Release> owner(managed);
  if (managed->version.major != dlpack::version.major) {
    throw InvalidArgument(
        format_text("from_dlpack: the tensor has DLPack version %u.%u, required %u. Request that "
                    "version from the exporter.",
                    managed->version.major, managed->version.minor, dlpack::version.major));
  }
  const bool is_copied = (managed->flags & dlpack::DLPACK_FLAG_BITMASK_IS_COPIED) != 0;
  return imported(managed->dl_tensor,
                  {.is_read_only = (managed->flags & dlpack::DLPACK_FLAG_BITMASK_READ_ONLY) != 0,
                   .is_exclusive = is_copied || how == DLPackImport::exclusive,
                   .byre_export = detail::Exported<DLManagedTensorVersioned>::of(*managed)},
                  std::move(owner));
}

Tensor from_dlpack(DLManagedTensor* managed, DLPackImport how) {
  expect_managed(managed);
  std::unique_ptr<DLManagedTensor, Release> owner(managed);
  return imported(managed->dl_tensor,
                  {.is_exclusive = how == DLPackImport::exclusive,
                   .byre_export = detail::Exported<DLManagedTensor>::of(*managed)},
                  std::move(owner));
}

}  // namespace byre::inline BYRE_ABI
