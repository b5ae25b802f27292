// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/dlpack.hpp>
#include <byre/interop/dlpack.hpp>
#include <byre/storage/pin.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;

/// The exports that the current release on this thread has still to destroy.
struct ReleaseQueue {
  bool are_under_way = false;
  detail::ExportedBytes* first_waiting = nullptr;
};
constinit thread_local ReleaseQueue release_queue;

/// Pins the tensor's storage. For a writer, allocates the memory first if the tensor lacks it.
Pin pin(Tensor& tensor, DLPackAccess access, Wait wait, CallSite site) {
  if (access == DLPackAccess::read) {
    static_cast<void>(tensor.raw_data(site));  // throws if there is no memory
    return tensor.storage().pin_to_read(site);
  }
  static_cast<void>(tensor.mutable_raw_data(wait, site));
  Storage storage = tensor.storage();
  return storage.pin(wait, site);
}

template <class Managed>
Managed* export_tensor(Tensor tensor, DLPackAccess access, Wait wait, CallSite site) try {
  detail::expect_dtype_known(tensor, "to_dlpack");
  const dlpack::DLDevice device = dlpack_device(tensor.device());
  auto made = std::make_unique<detail::Exported<Managed>>();
  if (access == DLPackAccess::copy) {
    tensor = tensor.clone(site);
  }
  made->sizes = tensor.sizes();
  made->strides = tensor.strides();
  // Pinning comes last: if an earlier step throws, the tensor is unchanged.
  if (tensor.numel() != 0) {
    made->pin = pin(tensor, access, wait, site);
  }
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    made->managed.version = dlpack::version;
    made->managed.flags = access == DLPackAccess::read   ? dlpack::DLPACK_FLAG_BITMASK_READ_ONLY
                          : access == DLPackAccess::copy ? dlpack::DLPACK_FLAG_BITMASK_IS_COPIED
                                                         : 0;
  }
  // The field byte_offset is 0, because many libraries ignore this field.
  const std::byte* const first =
      made->pin.data() == nullptr
          ? nullptr
          : made->pin.data() +
                static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
  made->managed.dl_tensor = {.data = const_cast<std::byte*>(first),
                             .device = device,
                             .ndim = static_cast<std::int32_t>(tensor.ndim()),
                             .dtype = dlpack_dtype(tensor.dtype()),
                             .shape = made->sizes.data(),
                             .strides = made->strides.data(),
                             .byte_offset = 0};
  return &made.release()->managed;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_dlpack");
}

}  // namespace

void detail::ExportedBytes::release() noexcept {
  ReleaseQueue& releases = release_queue;
  next_ = std::exchange(releases.first_waiting, this);
  if (releases.are_under_way) {
    return;
  }
  releases.are_under_way = true;
  while (ExportedBytes* const released = releases.first_waiting) {
    releases.first_waiting = released->next_;
    delete released;
  }
  releases.are_under_way = false;
}

DLManagedTensorVersioned* to_dlpack(Tensor tensor, DLPackAccess access, Wait wait, CallSite site) {
  return export_tensor<DLManagedTensorVersioned>(std::move(tensor), access, wait, site);
}

DLManagedTensor* to_older_dlpack(Tensor tensor, DLPackAccess access, Wait wait, CallSite site) {
  if (access == DLPackAccess::read) {
    throw InvalidArgument(format_text(
        "to_older_dlpack: DLPack before 1.0 has no read-only tensors. Pass DLPackAccess::write, "
        "which materializes and pins, or call to_dlpack()."));
  }
  return export_tensor<DLManagedTensor>(std::move(tensor), access, wait, site);
}

}  // namespace byre::inline BYRE_ABI
