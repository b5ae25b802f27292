// SPDX-License-Identifier: BSL-1.0
/// Exchange of tensors with other array libraries (NumPy, PyTorch, JAX, CuPy, ...) by DLPack 1,
/// without a byte copied. A lazy clone never observes a write of the other library.
///
/// Tensors on the host have DLPack's CPU device. A registered device kind from 2 on is the DLPack
/// device type of that number, so number kinds accordingly (2 is CUDA). Kind 1 is DLPack's
/// kDLExtDev.
///
/// Unless a function says otherwise, its thread-safety is that of the access to the tensor, and it
/// copies no elements.
#pragma once

#include <byre/config.hpp>
#include <byre/interop/dlpack_structures.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// The access of an export's consumer to the data.
enum class DLPackAccess : std::uint8_t {
  read,   ///< READ_ONLY: shares the data like a lazy clone; see Storage::pin_to_read()
  write,  ///< materializes, and pins the storage until the export is released; see Storage::pin()
  copy,   ///< IS_COPIED: exports a copy that is made now, for the consumer alone
};

/// Exports the tensor's elements to another library, which must call the deleter once, on any
/// thread. Counts as a read of `tensor` like data(), or as a write like mutable_data(). Write
/// access excludes all other accesses to the storage, and so do later writes of the other library.
/// If a deleter is called within the deleter of another byre export, the outer one releases the
/// inner tensor before it returns: chains of tensors that libraries wrap in each other need no
/// stack.
///
/// Throws StateError for a tensor without a dtype or memory, DeviceError if DLPack has no number
/// for the device, OutOfMemory, and the exceptions of materializing. Cost: copies only if write
/// access materializes, or for DLPackAccess::copy.
[[nodiscard]] BYRE_API dlpack::DLManagedTensorVersioned* to_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::read, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

/// As to_dlpack(), by the structure of DLPack before 1.0, which has no read-only flag: its consumer
/// may write. Also throws InvalidArgument for DLPackAccess::read.
[[nodiscard]] BYRE_API dlpack::DLManagedTensor* to_older_dlpack(
    Tensor tensor, DLPackAccess access = DLPackAccess::write, Wait wait = Wait::allowed,
    CallSite site = CallSite::current());

/// Whether other code may write the imported memory.
enum class DLPackImport : std::uint8_t {
  /// The exporter may still write it: a lazy clone copies at once. Memory marked IS_COPIED is
  /// shared instead.
  aliased,
  /// The caller guarantees that no other code writes it: lazy clones share it, like adopted memory.
  exclusive,
};

/// Imports a tensor over the memory of another library. A write changes that memory in place, or
/// goes to a copy if it is READ_ONLY. An export of byre returns as its origin: a read export as a
/// lazy clone, a write export as the storage itself. The deleter is called once: when the last
/// owner releases the memory, or if this function throws. The deleter must not throw. Code that
/// writes bools must store 0 or 1.
///
/// Throws InvalidArgument for null, another major version or misaligned memory; DTypeError for
/// elements without a dtype, and for bools that are neither 0 nor 1; ShapeError for negative sizes
/// and strides, and for more elements than an object can have; DeviceError if the device is not
/// registered; OutOfMemory. Cost: reads all elements of a tensor of bools on the host.
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensorVersioned* managed,
                            DLPackImport how = DLPackImport::aliased);
BYRE_API Tensor from_dlpack(dlpack::DLManagedTensor* managed,
                            DLPackImport how = DLPackImport::aliased);

/// The DLPack names of a device and of a dtype. Throw DeviceError as to_dlpack() does, and
/// DTypeError for DType::uninitialized.
BYRE_API dlpack::DLDevice dlpack_device(Device device);
BYRE_API dlpack::DLDataType dlpack_dtype(DType dtype);

}  // namespace byre::inline v0
